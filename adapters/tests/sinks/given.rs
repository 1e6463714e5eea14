//! What the tests are given: a schema with one column of every kind, and objects of its rows.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use bytes::Bytes;
use dpone_adapters::body::Body;
use dpone_adapters::digest::sha256;
use dpone_engine::manifest::{Connection, Sink, SinkType, Strategy, StrategyMode, TableRef};
use dpone_engine::run::effect::ChunkFacts;
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
pub(crate) fn sink(kind: SinkType, place: &std::path::Path, mode: StrategyMode) -> Sink {
    let place = place.to_str().unwrap().to_owned();
    let (connection, table) = match kind {
        SinkType::Parquet => (Connection::Uri(place), None),
        _ => (Connection::Path(place), Some(TableRef { name: "t".to_owned(), ..TableRef::default() })),
    };
    let key = if mode == StrategyMode::Merge { vec!["id".to_owned()] } else { Vec::new() };
    Sink { kind, connection, table, strategy: Strategy { mode, key } }
}
