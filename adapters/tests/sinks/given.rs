//! What the tests are given: a schema with one column of every kind, and objects of its rows.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use bytes::Bytes;
use dpone_adapters::body::Body;
use dpone_adapters::digest::sha256;
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Connection, Sink as SinkManifest, SinkType, Strategy, StrategyMode, TableRef};
use dpone_engine::ports::{Claimant, Feed, LoadOrder, PublishOrder, Sink, Staged, StagedUnit};
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::{Column, LogicalType, Schema};
use parquet::arrow::ArrowWriter;

/// `id` is never NULL; the others are NULL in every row whose id is a multiple of seven.
pub(crate) fn schema() -> Schema {
    let column = |(name, ty): (&str, LogicalType)| Column {
        name: name.to_owned(),
        nullable: name != "id",
        declared: ty.to_string(),
        ty,
    };
    let columns = [
        ("id", LogicalType::Int { bits: 64 }),
        ("flag", LogicalType::Bool),
        ("amount", LogicalType::Decimal { precision: 20, scale: 2 }),
        ("day", LogicalType::Date),
        ("at", LogicalType::Timestamp { digits: 6, utc: true }),
        ("share", LogicalType::Float { bits: 64 }),
        ("note", LogicalType::Text),
        ("raw", LogicalType::Binary),
    ];
    Schema { columns: columns.into_iter().map(column).collect() }
}

/// The arrays of rows with those ids.
pub(crate) fn batch(ids: &[i64]) -> RecordBatch {
    let some = |id: &i64| (id % 7 != 0).then_some(*id);
    let column = |name: &str| -> ArrayRef {
        match name {
            "id" => Arc::new(Int64Array::from(ids.to_vec())),
            "flag" => Arc::new(ids.iter().map(|i| some(i).map(|v| v % 2 == 0)).collect::<BooleanArray>()),
            "amount" => {
                let values = ids.iter().map(|i| some(i).map(|v| -i128::from(v) * 10_000_000_007));
                Arc::new(values.collect::<Decimal128Array>().with_precision_and_scale(20, 2).unwrap())
            }
            "day" => Arc::new(ids.iter().map(|i| some(i).map(|v| v as i32 - 3)).collect::<Date32Array>()),
            "at" => {
                let values = ids.iter().map(|i| some(i).map(|v| v * 1_000_003 - 7_000_000));
                Arc::new(values.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
            }
            "share" => Arc::new(ids.iter().map(|i| some(i).map(|v| v as f64 / 3.0)).collect::<Float64Array>()),
            "note" => Arc::new(ids.iter().map(|i| some(i).map(|v| format!("n\0ö{v}"))).collect::<StringArray>()),
            _ => {
                let values: Vec<Option<Vec<u8>>> =
                    ids.iter().map(|i| some(i).map(|v| v.to_le_bytes().to_vec())).collect();
                Arc::new(values.iter().map(Option::as_deref).collect::<BinaryArray>())
            }
        }
    };
    let columns = schema().columns.iter().map(|c| (c.name.clone(), column(&c.name), c.nullable)).collect::<Vec<_>>();
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// An object of one batch.
pub(crate) fn object(batch: &RecordBatch) -> (ChunkFacts, Body) {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    let facts = ChunkFacts { rows: batch.num_rows() as u64, bytes: bytes.len() as u64, sha256: sha256(&bytes) };
    let halves = bytes.split_at(bytes.len() / 2);
    (facts, Body::new(vec![Bytes::copy_from_slice(halves.0), Bytes::copy_from_slice(halves.1)]))
}

/// An object of `rows` rows with ids from `first`.
pub(crate) fn chunk(first: u64, rows: u64) -> (ChunkFacts, Body) {
    object(&batch(&(first..first + rows).map(|i| i as i64).collect::<Vec<_>>()))
}

/// The sink of a manifest: a dataset, or the table `t` of a database file.
pub(crate) fn sink(kind: SinkType, place: &std::path::Path, mode: StrategyMode) -> SinkManifest {
    let place = place.to_str().unwrap().to_owned();
    let (connection, table) = match kind {
        SinkType::Parquet => (Connection::Uri(place), None),
        _ => (Connection::Path(place), Some(TableRef { name: "t".to_owned(), ..TableRef::default() })),
    };
    SinkManifest { kind, connection, table, strategy: strategy(mode) }
}

/// A strategy with the key that it needs: rows are known by their id, and partitioned by `flag`.
pub(crate) fn strategy(mode: StrategyMode) -> Strategy {
    let key: &[&str] = match mode {
        StrategyMode::Merge => &["id"],
        StrategyMode::PartitionReplace => &["flag"],
        StrategyMode::FullRefresh | StrategyMode::Append => &[],
    };
    Strategy { mode, key: key.iter().map(|&name| name.to_owned()).collect() }
}

/// Partitions to replace in a target that holds the rows 1 to 8 and 14, and then those of [`MORE_ROWS`].
pub(crate) struct Partitions {
    /// The columns that make a partition.
    pub(crate) key: &'static [&'static str],
    /// The ids of the rows that are read.
    pub(crate) read: &'static [i64],
    /// Whether their flags are NULL.
    pub(crate) blank: bool,
    /// The target's ids afterwards, in order.
    pub(crate) after: &'static [i64],
}

/// 50 and 53 share their flag, NULL, with 7 and 14, and 53 its note with 3.
pub(crate) const MORE_ROWS: &str = "INSERT INTO t (id, note) VALUES (50, 'x');
    INSERT INTO t (id, note) SELECT 53, note FROM t WHERE id = 3";

/// Every way in which partitions meet, NULL among them.
pub(crate) const PARTITIONS: &[Partitions] = &[
    Partitions { key: &["flag"], read: &[10], blank: false, after: &[1, 3, 5, 7, 10, 14, 50, 53] },
    Partitions { key: &["flag"], read: &[21], blank: false, after: &[1, 2, 3, 4, 5, 6, 8, 21] },
    Partitions { key: &["flag"], read: &[9, 10, 12, 21], blank: false, after: &[9, 10, 12, 21] },
    Partitions { key: &["flag"], read: &[], blank: false, after: &[1, 2, 3, 4, 5, 6, 7, 8, 14, 50, 53] },
    Partitions { key: &["flag"], read: &[9], blank: true, after: &[1, 2, 3, 4, 5, 6, 8, 9] },
    Partitions { key: &["note"], read: &[3, 9], blank: false, after: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 50] },
    Partitions { key: &["flag", "note"], read: &[2, 7], blank: false, after: &[1, 2, 3, 4, 5, 6, 7, 8, 50, 53] },
    Partitions { key: &["note", "flag"], read: &[3], blank: true, after: &[1, 2, 3, 3, 4, 5, 6, 7, 8, 14, 50] },
    Partitions { key: &["note", "flag"], read: &[2, 3, 7], blank: true, after: &[1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 50] },
    Partitions { key: &["id", "note"], read: &[3, 50], blank: false, after: &[1, 2, 3, 4, 5, 6, 7, 8, 14, 50, 50, 53] },
];

/// The same rows, with NULL for every flag.
pub(crate) fn without_flags(batch: &RecordBatch) -> RecordBatch {
    let at = batch.schema().index_of("flag").unwrap();
    let mut columns = batch.columns().to_vec();
    columns[at] = arrow::array::new_null_array(columns[at].data_type(), batch.num_rows());
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// Objects of one unit, handed over one after another.
pub(crate) struct Given(pub(crate) std::vec::IntoIter<(ChunkFacts, Body)>);

impl Feed for Given {
    type Body = Body;

    async fn next(&mut self) -> Option<Result<(ChunkFacts, Body), Why>> {
        self.0.next().map(Ok)
    }
    fn granted(&self) -> u64 {
        64 << 20
    }
}

/// One run's names and claim.
pub(crate) struct Run {
    pub(crate) claimant: Claimant,
    pub(crate) staging: String,
}

impl Run {
    pub(crate) fn new(run: &str) -> Self {
        let claimant = Claimant { run: run.to_owned(), epoch: 1, journal: "journal".to_owned() };
        Self { claimant, staging: format!("stg_{run}_a1_00") }
    }

    /// Claims, stages and loads those objects as one unit.
    pub(crate) async fn staged(
        &self,
        sink: &impl Sink<Body = Body>,
        objects: Vec<(ChunkFacts, Body)>,
    ) -> Outcome<Staged> {
        let rows = objects.iter().map(|(facts, _)| facts.rows).sum();
        let order = LoadOrder {
            claimant: self.claimant.clone(),
            unit: 0,
            staging: self.staging.clone(),
            load: format!("ld_{}_a1_r0_00", self.claimant.run),
            rows,
        };
        let unit = StagedUnit { unit: 0, staging: order.staging.clone(), load: order.load.clone(), rows, objects: 1 };
        for outcome in [
            sink.claim(&self.claimant).await,
            sink.stage(&self.claimant, &self.staging, None).await,
            sink.load(&order, &mut Given(objects.into_iter())).await,
        ] {
            match outcome {
                Outcome::Done(_) => {}
                Outcome::NotDone(why) => return Outcome::NotDone(why),
                Outcome::Unknown(why) => return Outcome::Unknown(why),
            }
        }
        Outcome::Done(Staged {
            claimant: self.claimant.clone(),
            units: vec![unit],
            staging: vec![self.staging.clone()],
        })
    }

    pub(crate) fn publication(&self, staged: Staged, base: &str) -> PublishOrder {
        let publication = format!("pub_{}_a1_00", self.claimant.run);
        PublishOrder { staged, publication, base: base.to_owned() }
    }

    /// A whole run; answers its publication, or why there was none.
    pub(crate) async fn deliver(
        &self,
        sink: &impl Sink<Body = Body>,
        base: &str,
        objects: Vec<(ChunkFacts, Body)>,
    ) -> Result<(String, u64), Code> {
        let staged = match self.staged(sink, objects).await {
            Outcome::Done(staged) => staged,
            Outcome::NotDone(why) | Outcome::Unknown(why) => return Err(why.code),
        };
        match sink.check(&staged, 64 << 20).await {
            Outcome::Done(Receipt::Checked { gates, .. }) => {
                if let Some(why) = gates.into_iter().find_map(|g| g.failed) {
                    return Err(why.code);
                }
            }
            other => panic!("{other:?}"),
        }
        let published = sink.publish(&self.publication(staged, base)).await;
        assert!(matches!(sink.release(&self.claimant).await, Outcome::Done(_)));
        match published {
            Outcome::Done(Receipt::Published { identity, rows }) => Ok((identity, rows)),
            Outcome::NotDone(why) => Err(why.code),
            other => panic!("{other:?}"),
        }
    }
}
