//! The `sqlite` sink beyond its port's conformance.

use std::path::Path;

use dpone_adapters::body::Body;
use dpone_adapters::sqlite_sink::{SqliteSink, SqliteTarget};
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, Quality, SinkType, StrategyMode};
use dpone_engine::ports::{Feed, LoadOrder, Sink as _};
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::{Column, LogicalType, Schema};
use rusqlite::Connection;

use crate::given::{self, Run};

fn target(path: &Path, mode: StrategyMode) -> SqliteTarget {
    SqliteTarget::of(&given::sink(SinkType::Sqlite, path, mode)).unwrap()
}

/// The ids in the target, in order.
fn ids(path: &Path) -> Vec<i64> {
    let db = Connection::open(path).unwrap();
    let mut statement = db.prepare("SELECT id FROM t ORDER BY id").unwrap();
    statement.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A whole run with those ids, on the target as preflight finds it.
async fn deliver(path: &Path, run: &str, mode: StrategyMode, given: &[i64]) -> Result<u64, Code> {
    let target = target(path, mode);
    let base = target.describe(&given::schema()).map_err(|r| r[0].code)?.base;
    let sink = SqliteSink::new(target, given::schema(), Quality::default(), path.with_extension("work"));
    let objects = vec![given::object(&given::batch(given))];
    Run::new(run).deliver(&sink, &base, objects).await.map(|(_, rows)| rows)
}

/// A target with the columns of the given schema, and what else is said.
const LIKE_GIVEN: &str = "flag BOOLEAN, amount TEXT, day DATE, at TIMESTAMP, share REAL, note TEXT, raw BLOB";

#[tokio::test]
async fn every_value_arrives_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    assert_eq!(deliver(&path, "r1", StrategyMode::FullRefresh, &[3, 7]).await, Ok(2));
    let db = Connection::open(&path).unwrap();
    let row = |id: i64| -> String {
        let sql = "SELECT quote(flag)||'|'||quote(amount)||'|'||quote(day)||'|'||quote(at)||'|'||(share = 1.0)
                   ||'|'||hex(note)||'|'||quote(raw) FROM t WHERE id = ?1";
        db.query_row(sql, [id], |r| r.get::<_, Option<String>>(0)).unwrap().unwrap_or_default()
    };
    let expect = "0|'-300000000.21'|'1970-01-01'|'1969-12-31T23:59:56.000009Z'|1|6E00C3B633|X'0300000000000000'";
    assert_eq!(row(3), expect);
    assert_eq!(row(7), "", "NULL stays NULL");
}

#[tokio::test]
async fn strategies_change_an_existing_table_in_place() {
    for (mode, expect) in [
        (StrategyMode::FullRefresh, &[2, 3, 4][..]),
        (StrategyMode::Append, &[1, 2, 2, 3, 4]),
        (StrategyMode::Merge, &[1, 2, 3, 4]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        let db = Connection::open(&path).unwrap();
        let sql = format!("CREATE TABLE t (id INTEGER NOT NULL, {LIKE_GIVEN}); CREATE INDEX mine ON t (note);");
        db.execute_batch(&(sql + "INSERT INTO t (id, note) VALUES (1, 'old'), (2, 'old');")).unwrap();
        drop(db);
        assert_eq!(deliver(&path, "r1", mode, &[2, 3, 4]).await, Ok(3));
        assert_eq!(ids(&path), expect, "{mode:?}");
        let db = Connection::open(&path).unwrap();
        let count = |sql: &str| db.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM sqlite_schema WHERE name = 'mine'"), 1);
        let replaced = mode != StrategyMode::Append;
        assert_eq!(count("SELECT count(*) FROM t WHERE id = 2 AND note = 'old'"), i64::from(!replaced));
        drop(db);
        assert_eq!(deliver(&path, "r2", StrategyMode::FullRefresh, &[]).await, Ok(0));
        assert!(ids(&path).is_empty(), "an empty source empties the target");
    }
}

#[tokio::test]
async fn partitions_that_are_read_are_replaced() {
    for case in given::PARTITIONS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        assert_eq!(deliver(&path, "r1", StrategyMode::FullRefresh, &[1, 2, 3, 4, 5, 6, 7, 8, 14]).await, Ok(9));
        Connection::open(&path).unwrap().execute_batch(given::MORE_ROWS).unwrap();
        let mut manifest = given::sink(SinkType::Sqlite, &path, StrategyMode::PartitionReplace);
        manifest.strategy.key = case.key.iter().map(|&k| k.to_owned()).collect();
        let target = SqliteTarget::of(&manifest).unwrap();
        let base = target.describe(&given::schema()).unwrap().base;
        let sink = SqliteSink::new(target, given::schema(), Quality::default(), dir.path());
        let batch = given::batch(case.read);
        let batch = if case.blank { given::without_flags(&batch) } else { batch };
        let delivered = Run::new("r2").deliver(&sink, &base, vec![given::object(&batch)]).await;
        assert_eq!(delivered.unwrap().1, case.read.len() as u64);
        assert_eq!(ids(&path), case.after, "{:?} {:?}", case.key, case.read);
    }
}

#[tokio::test]
async fn partitions_are_equal_byte_by_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let columns = LIKE_GIVEN.replace("note TEXT", "note TEXT COLLATE NOCASE");
    let sql = format!("CREATE TABLE t (id INTEGER NOT NULL, {columns}); CREATE INDEX mine ON t (note);");
    // Note 3 is `n\0ö3`: once as it is, and once in capitals.
    let rows = "INSERT INTO t (id, note) VALUES (30, CAST(x'6E00C3B633' AS TEXT)), (31, CAST(x'4E00C3B633' AS TEXT))";
    Connection::open(&path).unwrap().execute_batch(&(sql + rows)).unwrap();
    let mut manifest = given::sink(SinkType::Sqlite, &path, StrategyMode::PartitionReplace);
    manifest.strategy.key = vec!["note".to_owned()];
    let target = SqliteTarget::of(&manifest).unwrap();
    let base = target.describe(&given::schema()).unwrap().base;
    let sink = SqliteSink::new(target, given::schema(), Quality::default(), dir.path());
    Run::new("r1").deliver(&sink, &base, vec![given::object(&given::batch(&[3]))]).await.unwrap();
    assert_eq!(ids(&path), [3, 31]);
}

#[tokio::test]
async fn a_merge_makes_a_keyed_table_and_refuses_an_unclear_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    assert_eq!(deliver(&path, "r1", StrategyMode::Merge, &[1, 2]).await, Ok(2));
    assert_eq!(deliver(&path, "r2", StrategyMode::Merge, &[2, 3]).await, Ok(2));
    assert_eq!(ids(&path), [1, 2, 3]);
    assert_eq!(deliver(&path, "r3", StrategyMode::Merge, &[4, 4]).await, Err(Code::MergeKeyNotUnique));
    assert_eq!(ids(&path), [1, 2, 3]);
}

#[tokio::test]
async fn a_constraint_that_drops_rows_stops_the_publication() {
    let rules =
        ["UNIQUE (flag) ON CONFLICT REPLACE", "UNIQUE (flag) ON CONFLICT IGNORE", "UNIQUE (flag)", "CHECK (id < 3)"];
    for rule in rules {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        let sql = format!("CREATE TABLE t (id INTEGER NOT NULL, {LIKE_GIVEN}, {rule})");
        Connection::open(&path).unwrap().execute_batch(&(sql + "; INSERT INTO t (id) VALUES (1)")).unwrap();
        let refused = deliver(&path, "r1", StrategyMode::FullRefresh, &[1, 2, 3]).await;
        assert!(matches!(refused, Err(Code::PublicationFailed | Code::LoadCountMismatch)), "{rule}: {refused:?}");
        assert_eq!(ids(&path), [1], "{rule}");
    }
}

#[tokio::test]
async fn floats_that_sqlite_cannot_keep_are_refused() {
    use arrow::array::{Float64Array, RecordBatch};
    let column =
        |nullable| Column { name: "f".into(), ty: LogicalType::Float { bits: 64 }, nullable, declared: String::new() };
    let schema = Schema { columns: vec![column(true)] };
    for (value, expect) in [
        (f64::INFINITY, Ok(1)),
        (f64::NEG_INFINITY, Ok(1)),
        (5e-324, Ok(1)),
        (3.0, Ok(1)),
        (f64::NAN, Err(Code::FloatNotFiniteUnsupportedByTarget)),
        (-0.0, Err(Code::FloatNegativeZeroUnsupportedByTarget)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        let array: arrow::array::ArrayRef = std::sync::Arc::new(Float64Array::from(vec![value]));
        let batch = RecordBatch::try_from_iter_with_nullable([("f", array, true)]).unwrap();
        let target = target(&path, StrategyMode::FullRefresh);
        let sink = SqliteSink::new(
            target,
            schema.clone(),
            Quality { fidelity: Fidelity::Rows, ..Quality::default() },
            path.with_extension("work"),
        );
        let delivered = Run::new("r1").deliver(&sink, "", vec![given::object(&batch)]).await.map(|(_, rows)| rows);
        assert_eq!(delivered, expect, "{value}");
        if expect.is_ok() {
            let db = Connection::open(&path).unwrap();
            let held: f64 = db.query_row("SELECT f FROM t", [], |r| r.get(0)).unwrap();
            assert_eq!(held.to_bits(), value.to_bits());
        }
    }
}

#[test]
fn preflight_finds_what_would_change_values_and_creates_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let schema = |columns: &[(&str, &str, bool)]| Schema {
        columns: columns
            .iter()
            .map(|(name, ty, nullable)| Column {
                name: (*name).to_owned(),
                ty: dpone_engine::manifest::parse_type(ty).unwrap(),
                nullable: *nullable,
                declared: String::new(),
            })
            .collect(),
    };
    let described = |ddl: &str, schema: &Schema, mode| -> Vec<Code> {
        let path = dir.path().join("t.db");
        let _ = std::fs::remove_file(&path);
        Connection::open(&path).unwrap().execute_batch(ddl).unwrap();
        let before = std::fs::read(&path).unwrap();
        let codes = match target(&path, mode).describe(schema) {
            Ok(facts) => {
                assert_eq!(facts.exists, !facts.base.is_empty());
                Vec::new()
            }
            Err(refusals) => refusals.iter().map(|r| r.code).collect(),
        };
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "{ddl}");
        codes
    };
    let narrow = &[Code::TargetTypeNarrowerThanSource][..];
    let one = |ty: &str| schema(&[("c", ty, true)]);
    for (ty, declared, expect) in [
        ("int64", "INTEGER", &[][..]),
        ("int64", "BIGINT", &[]),
        ("int64", "NUMERIC", &[]),
        ("int64", "", &[]),
        ("int64", "TEXT", narrow),
        ("int64", "REAL", narrow),
        ("int8", "DOUBLE", narrow),
        ("uint64", "INTEGER", narrow),
        ("uint32", "INTEGER", &[]),
        ("float64", "REAL", &[]),
        ("float64", "NUMERIC", narrow),
        ("float64", "FLOATING POINT", narrow),
        ("decimal(10,2)", "DECIMAL(10,2)", narrow),
        ("decimal(10,2)", "REAL", narrow),
        ("decimal(10,2)", "DECIMAL_TEXT(10,2)", &[]),
        ("decimal(39,2)", "DECIMAL_TEXT(39,2)", narrow),
        ("text", "VARCHAR(10)", &[]),
        ("text", "STRING", narrow),
        ("binary", "TEXT", &[]),
        ("date", "DATE", &[]),
        ("timestamp(6)", "DATETIME", &[]),
        ("uuid", "UUID", &[]),
    ] {
        let found = described(&format!("CREATE TABLE t (c {declared})"), &one(ty), StrategyMode::FullRefresh);
        assert_eq!(found, expect, "{ty} into {declared}");
    }
    let (id, note) = (("id", "int64", false), ("note", "text", true));
    let both = schema(&[id, note]);
    for (ddl, mode, expect) in [
        ("CREATE TABLE other (x)", StrategyMode::FullRefresh, &[][..]),
        ("PRAGMA journal_mode = WAL; CREATE TABLE t (id INT, note TEXT)", StrategyMode::Append, &[]),
        ("CREATE TABLE T (id INT, note TEXT)", StrategyMode::FullRefresh, &[]),
        ("CREATE TABLE t (id INT, note TEXT, g TEXT AS (note) STORED)", StrategyMode::FullRefresh, &[]),
        ("CREATE TABLE t (id INT)", StrategyMode::FullRefresh, &[Code::TargetColumnsMismatch]),
        ("CREATE TABLE t (id INT, note TEXT, more)", StrategyMode::Append, &[Code::TargetColumnsMismatch]),
        (
            "CREATE TABLE t (id INT, note TEXT NOT NULL)",
            StrategyMode::Append,
            &[Code::NullableSourceIntoNonNullableTarget],
        ),
        (
            "CREATE TABLE t (id INT, note TEXT PRIMARY KEY)",
            StrategyMode::Append,
            &[Code::NullableSourceIntoNonNullableTarget],
        ),
        ("CREATE TABLE t (id TEXT, note TEXT) STRICT", StrategyMode::Append, narrow),
        ("CREATE TABLE t (id INT, note ANY) STRICT", StrategyMode::Append, &[]),
        (
            "CREATE TABLE b (id INT, note TEXT); CREATE VIEW t AS SELECT * FROM b",
            StrategyMode::Append,
            &[Code::StrategyUnsupported],
        ),
        (
            "CREATE TABLE t (id INT, note TEXT); CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
            StrategyMode::FullRefresh,
            &[Code::TargetTriggerUnsupported],
        ),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT);
             CREATE TABLE child (t INT REFERENCES T (id) ON DELETE CASCADE)",
            StrategyMode::FullRefresh,
            &[Code::TargetTriggerUnsupported],
        ),
        ("CREATE TABLE t (id INT, note TEXT)", StrategyMode::PartitionReplace, &[]),
        (
            "CREATE TABLE t (id INT, note TEXT NOT NULL)",
            StrategyMode::PartitionReplace,
            &[Code::NullableSourceIntoNonNullableTarget],
        ),
    ] {
        assert_eq!(described(ddl, &both, mode), expect, "{ddl}");
    }
    let twice = schema(&[("id", "int64", false), ("ID", "int64", false)]);
    assert_eq!(described("", &twice, StrategyMode::FullRefresh), [Code::DuplicateColumnName]);
    let hiding = schema(&[("rowid", "int64", false), ("_ROWID_", "int64", false), ("oid", "int64", false)]);
    assert_eq!(described("", &hiding, StrategyMode::FullRefresh), [Code::TargetColumnsMismatch]);

    let nowhere = dir.path().join("deep/t.db");
    assert!(!target(&nowhere, StrategyMode::FullRefresh).describe(&both).unwrap().exists);
    assert!(!nowhere.parent().unwrap().exists());
    let path = dir.path().join("t.db");
    std::fs::write(&path, "this is no database, but long enough to be looked at as one".repeat(20)).unwrap();
    let refusals = target(&path, StrategyMode::FullRefresh).describe(&both).unwrap_err();
    assert_eq!(refusals[0].code, Code::TargetNotReachable);
}

#[tokio::test]
async fn a_table_that_hides_row_numbers_is_loaded_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let mut schema = given::schema();
    schema.columns.truncate(1);
    schema.columns[0].name = "rowid".to_owned();
    let batch = given::batch(&[5, 5, 5]).project(&[0]).unwrap();
    let array = batch.column(0).clone();
    let batch = arrow::array::RecordBatch::try_from_iter_with_nullable([("rowid", array, false)]).unwrap();
    let sink = SqliteSink::new(target(&path, StrategyMode::FullRefresh), schema, Quality::default(), dir.path());
    let objects = vec![given::object(&batch), given::object(&batch)];
    assert_eq!(Run::new("r1").deliver(&sink, "", objects).await.map(|(_, rows)| rows), Ok(6));
}

/// Hands over one object, and meanwhile another writer writes.
struct Waiting<'a> {
    path: &'a Path,
    object: Option<(ChunkFacts, Body)>,
}

impl Feed for Waiting<'_> {
    type Body = Body;

    async fn next(&mut self) -> Option<Result<(ChunkFacts, Body), Why>> {
        let object = self.object.take()?;
        let other = Connection::open(self.path).unwrap();
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        other.execute_batch("CREATE TABLE other (x); BEGIN IMMEDIATE; ROLLBACK").unwrap();
        Some(Ok(object))
    }
    fn granted(&self) -> u64 {
        64 << 20
    }
}

#[tokio::test]
async fn other_writers_do_not_wait_for_the_first_object() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let sink =
        SqliteSink::new(target(&path, StrategyMode::FullRefresh), given::schema(), Quality::default(), dir.path());
    let run = Run::new("r1");
    sink.claim(&run.claimant).await;
    sink.stage(&run.claimant, &run.staging, None).await;
    let (claimant, staging) = (run.claimant.clone(), run.staging.clone());
    let order = LoadOrder { claimant, unit: 0, staging, load: "ld".to_owned(), rows: 2 };
    let mut feed = Waiting { path: &path, object: Some(given::chunk(1, 2)) };
    assert_eq!(sink.load(&order, &mut feed).await, Outcome::Done(Receipt::Loaded { rows: 2 }));
}

#[tokio::test]
async fn gates_see_what_staging_holds() {
    let quality = |min_rows, not_null: &[&str], unique: &[&str]| Quality {
        min_rows,
        not_null: not_null.iter().map(ToString::to_string).collect(),
        unique: unique.iter().map(ToString::to_string).collect(),
        ..Quality::default()
    };
    for (quality, ids, expect) in [
        (quality(3, &["id"], &["id", "note", "amount", "share", "raw"]), &[1, 2, 3][..], Ok(3)),
        (quality(4, &[], &[]), &[1, 2, 3], Err(Code::QualityMinRows)),
        (quality(0, &["flag"], &[]), &[1, 7, 3], Err(Code::QualityNotNull)),
        (quality(0, &[], &["id"]), &[1, 2, 1], Err(Code::QualityUnique)),
        (quality(0, &[], &["flag"]), &[1, 3], Err(Code::QualityUnique)),
        // NULL equals nothing.
        (quality(0, &[], &["note", "raw", "at"]), &[0, 7, 14], Ok(3)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.db");
        let target = target(&path, StrategyMode::FullRefresh);
        let sink = SqliteSink::new(target, given::schema(), quality.clone(), dir.path());
        let objects = vec![given::object(&given::batch(ids))];
        let delivered = Run::new("r1").deliver(&sink, "", objects).await.map(|(_, rows)| rows);
        assert_eq!(delivered, expect, "{quality:?}");
    }
}
