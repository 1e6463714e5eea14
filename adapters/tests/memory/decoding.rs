//! What sinks take for objects that are small and stand for much.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use dpone_adapters::any::{AnySink, AnyTarget};
use dpone_adapters::body::Body;
use dpone_adapters::columnar::{ChunkLayout, ChunkWriter};
use dpone_adapters::parquet_sink::ParquetSink;
use dpone_adapters::sqlite_sink::SqliteSink;
use dpone_engine::manifest::{Connection, Quality, Sink as SinkManifest, SinkType, Strategy, StrategyMode, TableRef};
use dpone_engine::ports::{Body as _, Claimant, Feed, LoadOrder, Sink, Staged, StagedUnit};
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Why};
use dpone_engine::schema::{Column, LogicalType, Schema};

use super::counting::{begin, taken};

/// A connection's page cache of 2 MB, what SQLite needs beside it, the test itself.
const BASE: usize = 3 << 20;
/// Rows, and bytes of the text in each: 40 MB.
const ROWS: u64 = 400;
const TEXT: usize = 100_000;

fn schema() -> Schema {
    let column = |name: &str, ty| Column { name: name.into(), ty, nullable: name == "s", declared: String::new() };
    Schema { columns: vec![column("id", LogicalType::Int { bits: 64 }), column("s", LogicalType::Text)] }
}

/// One object, of texts that a dictionary or compression makes small.
fn object(texts: usize) -> (ChunkFacts, Body) {
    let layout = ChunkLayout::new(&schema()).unwrap();
    let mut writer = ChunkWriter::new(&layout, false, 1 << 20).unwrap();
    for id in 0..ROWS {
        let text = (id % 7 != 0).then(|| format!("{}{}", id as usize % texts, "x".repeat(TEXT)));
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(vec![id as i64])), Arc::new(StringArray::from(vec![text]))];
        writer.write(&RecordBatch::try_new(Arc::clone(layout.arrow()), columns).unwrap()).unwrap();
    }
    let sealed = writer.seal().unwrap();
    (sealed.facts, sealed.body)
}

struct One {
    object: Option<(ChunkFacts, Body)>,
    granted: u64,
}

impl Feed for One {
    type Body = Body;

    async fn next(&mut self) -> Option<Result<(ChunkFacts, Body), Why>> {
        self.object.take().map(Ok)
    }

    fn granted(&self) -> u64 {
        self.granted
    }
}

fn sink(kind: SinkType, folder: &Path) -> AnySink {
    let place = folder.join("target").to_str().unwrap().to_owned();
    let (connection, table) = match kind {
        SinkType::Parquet => (Connection::Uri(place), None),
        _ => (Connection::Path(place), Some(TableRef { name: "t".to_owned(), ..TableRef::default() })),
    };
    let strategy = Strategy { mode: StrategyMode::FullRefresh, key: Vec::new() };
    let manifest = SinkManifest { kind, connection, table, strategy };
    let quality = Quality { unique: vec!["s".to_owned()], not_null: vec!["id".to_owned()], ..Quality::default() };
    match AnyTarget::of(&manifest).unwrap() {
        AnyTarget::Parquet(target) => AnySink::Parquet(ParquetSink::new(target, schema(), quality, folder, "fp")),
        AnyTarget::Sqlite(target) => AnySink::Sqlite(SqliteSink::new(target, schema(), quality, folder)),
        AnyTarget::Postgres(_) => unreachable!("no server here"),
    }
}

pub(crate) fn a_load_and_a_check_take_no_more_than_their_grants() {
    for kind in [SinkType::Sqlite, SinkType::Parquet] {
        // With two texts all rows are in the dictionary; with a hundred they are pages of compressible text.
        for texts in [2, 100] {
            let folder = tempfile::tempdir().unwrap();
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(one(kind, texts, folder.path()));
        }
    }
}

async fn one(kind: SinkType, texts: usize, folder: &Path) {
    let sink = sink(kind, folder);
    let claimant = Claimant { run: "r".to_owned(), epoch: 1, journal: "j".to_owned() };
    sink.claim(&claimant).await;
    sink.stage(&claimant, "stg", None).await;
    let (facts, body) = object(texts);
    let granted = body.size() + (4 << 20);
    let (staging, load) = ("stg".to_owned(), "ld".to_owned());
    let order =
        LoadOrder { claimant: claimant.clone(), unit: 0, staging: staging.clone(), load: load.clone(), rows: ROWS };
    let within = |what: &str, taken: usize, granted: u64| {
        let most = usize::try_from(granted).unwrap() + BASE;
        assert!(taken <= most, "{what} of {kind:?} with {texts} texts: {taken} bytes taken and {granted} granted");
    };
    let since = begin();
    let mut feed = One { object: Some((facts, body)), granted };
    let outcome = sink.load(&order, &mut feed).await;
    within("a load", taken(since), granted);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");

    let unit = StagedUnit { unit: 0, staging: staging.clone(), load, rows: ROWS, objects: 1 };
    let staged = Staged { claimant, units: vec![unit], staging: vec![staging] };
    let since = begin();
    let outcome = sink.check(&staged, 4 << 20).await;
    within("a check", taken(since), 4 << 20);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
}
