//! The port conformance suites on the real adapters.

use std::path::PathBuf;

use bytes::Bytes;
use dpone_adapters::body::Body;
use dpone_adapters::digest::sha256;
use dpone_adapters::object_store::LocalObjects;
use dpone_adapters::parquet_sink::{ParquetSink, ParquetTarget};
use dpone_adapters::sqlite_sink::{SqliteSink, SqliteTarget};
use dpone_engine::conformance::{self, SinkWorld};
use dpone_engine::manifest::{Quality, SinkType, StrategyMode};
use dpone_engine::run::effect::ChunkFacts;

use crate::{given, parquet};

#[tokio::test]
async fn the_local_store_conforms() {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalObjects::open(dir.path()).unwrap();
    let content = |text: &[u8]| {
        let facts = ChunkFacts { rows: 1, bytes: text.len() as u64, sha256: sha256(text) };
        (facts, Body::from(Bytes::copy_from_slice(text)))
    };
    conformance::object_store(&store, content, |body| body.segments().concat()).await;
}

fn quality() -> Quality {
    Quality { min_rows: 1, not_null: vec!["id".into()], unique: vec!["id".into(), "note".into()], ..Quality::default() }
}

struct Dataset {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Dataset {
    fn target(&self) -> ParquetTarget {
        ParquetTarget::of(&given::sink(SinkType::Parquet, &self.root, StrategyMode::FullRefresh)).unwrap()
    }
}

impl SinkWorld for Dataset {
    type Sink = ParquetSink;
    type Body = Body;

    fn sink(&self) -> ParquetSink {
        ParquetSink::new(self.target(), given::schema(), quality(), self.root.parent().unwrap(), "fingerprint")
    }

    fn chunk(&self, first: u64, rows: u64) -> (ChunkFacts, Body) {
        given::chunk(first, rows)
    }

    fn base(&self) -> String {
        self.target().describe(&given::schema()).unwrap().base
    }

    async fn rows(&self) -> u64 {
        parquet::rows(&self.root).len() as u64
    }
}

#[tokio::test]
async fn the_parquet_sink_conforms() {
    conformance::sink(|| {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("deep/dataset");
        Dataset { _dir: dir, root }
    })
    .await;
}

struct Database {
    _dir: tempfile::TempDir,
    path: PathBuf,
    mode: StrategyMode,
}

impl Database {
    fn of(mode: StrategyMode) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/target.db");
        Database { _dir: dir, path, mode }
    }

    fn target(&self) -> SqliteTarget {
        SqliteTarget::of(&given::sink(SinkType::Sqlite, &self.path, self.mode)).unwrap()
    }
}

impl SinkWorld for Database {
    type Sink = SqliteSink;
    type Body = Body;

    fn sink(&self) -> SqliteSink {
        SqliteSink::new(self.target(), given::schema(), quality(), self.path.parent().unwrap())
    }

    fn chunk(&self, first: u64, rows: u64) -> (ChunkFacts, Body) {
        // Every run brings both partitions, and none of NULL: where partitions are replaced, all rows are.
        given::chunk(first + 1, rows)
    }

    fn base(&self) -> String {
        self.target().describe(&given::schema()).unwrap().base
    }

    async fn rows(&self) -> u64 {
        let db = rusqlite::Connection::open(&self.path).unwrap();
        let exists = db.table_exists(None, "t").unwrap();
        if exists { db.query_row("SELECT count(*) FROM t", [], |r| r.get(0)).unwrap() } else { 0 }
    }
}

#[tokio::test]
async fn the_sqlite_sink_conforms() {
    for mode in [StrategyMode::FullRefresh, StrategyMode::PartitionReplace] {
        conformance::sink(|| Database::of(mode)).await;
    }
}
