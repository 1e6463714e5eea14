//! What changed between a kill and the resume: a change of the plan is refused by name, a change of the rows is never
//! mixed with what was read before.

use std::fs;

use dpone_engine::run::effect::EffectKind::{Load, Put, Read};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::killed::{Ground, RUN};
use dpone_tests::route::{Mode, Row, Sink};

/// Retypes a column as SQLite can: by another table.
const RETYPED: &str = "ALTER TABLE t RENAME TO t0; DROP INDEX t_k;
    CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, v VARCHAR(100)); CREATE INDEX t_k ON t (k);
    INSERT INTO t SELECT * FROM t0; DROP TABLE t0";
const NOT_NULL: &str = "ALTER TABLE t RENAME TO t0; DROP INDEX t_k;
    CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, v TEXT NOT NULL); CREATE INDEX t_k ON t (k);
    INSERT INTO t SELECT id, k, coalesce(v, '') FROM t0; DROP TABLE t0";

/// One change, and what the refusal must name; nothing if it must be resumed.
struct Change {
    source: &'static str,
    manifest: (&'static str, &'static str),
    names: &'static [&'static str],
}

const fn source(source: &'static str, names: &'static [&'static str]) -> Change {
    Change { source, manifest: ("", ""), names }
}

const fn manifest(old: &'static str, new: &'static str, names: &'static [&'static str]) -> Change {
    Change { source: "", manifest: (old, new), names }
}

fn changes(ground: &Ground, changes: &[Change]) {
    let route = &ground.route;
    ground.kill_at(&RUN, &Step::Announced(Load), 1).unwrap();
    ground.keep();
    for change in changes {
        ground.reset();
        let before = fs::read_to_string(route.folder.join("m.yaml")).unwrap();
        if !change.source.is_empty() {
            route.source().execute_batch(change.source).unwrap();
        }
        if !change.manifest.0.is_empty() {
            route.edit(change.manifest.0, change.manifest.1);
        }
        let what = format!("{:?} {}", change.manifest, change.source);
        let ended = Ended::run(&route.folder, &["run", "m.yaml", "--resume"]);
        assert_eq!(ended.code() == Some(0), change.names.is_empty(), "{what} {ended}");
        if !change.names.is_empty() {
            let ended = ended.with(2, "error[resume_plan_mismatch]");
            for name in change.names {
                assert!(ended.err().contains(name), "{what}: {name:?} is not in {ended}");
            }
            assert_eq!(ended.json()["published"], false, "{what}");
            assert_eq!(route.delivered(), route.expected(1), "{what}");
            // Nothing was spoilt by the refusal: with the change of the manifest undone the run goes on.
            if change.source.is_empty() {
                fs::write(route.folder.join("m.yaml"), before).unwrap();
                Ended::run(&route.folder, &["run", "m.yaml", "--resume"]).delivered();
            }
        }
        if change.names.is_empty() || change.source.is_empty() {
            assert_eq!(route.delivered(), route.expected(2), "{what}");
            assert_eq!(route.leftovers(), Vec::<String>::new(), "{what}");
        }
    }
}

fn tables(sink: Sink, target: Change) {
    let ground = Ground::new(sink, Mode::Append, false);
    changes(
        &ground,
        &[
            source("ALTER TABLE t ADD COLUMN z INTEGER", &["source column \"z\"", "added"]),
            source(RETYPED, &["source column \"v\"", "TEXT", "VARCHAR(100)"]),
            source(NOT_NULL, &["source column \"v\"", "NOT NULL"]),
            source("ALTER TABLE t RENAME COLUMN v TO w", &["\"v\"", "removed", "\"w\"", "added"]),
            manifest("num_partitions: 2", "num_partitions: 3", &["num_partitions"]),
            manifest("    partitioning:", "    columns: [id, k]\n    partitioning:", &["source.options.columns"]),
            manifest("column: k", "column: id", &["partitioning.column"]),
            manifest("min_rows: 1", "min_rows: 2", &["quality.min_rows"]),
            target,
            // What changes nothing about what is delivered.
            manifest("reader_workers: 2", "reader_workers: 1", &[]),
            manifest("name: route\n", "# a remark\nname:   route\n", &[]),
            manifest("work_dir: work", "work_dir: work2", &[]),
        ],
    );
}

#[test]
fn parquet_tables() {
    tables(Sink::Parquet, manifest("uri: dataset", "uri: dataset2", &["sink", "dataset2"]));
}

#[test]
fn sqlite_tables() {
    tables(Sink::Sqlite, manifest("path: target.db", "path: other.db", &["sink", "other.db"]));
}

#[test]
fn queries() {
    let ground = Ground::new(Sink::Parquet, Mode::FullRefresh, false);
    let query = "query: \"SELECT id, k, v FROM t WHERE id > 0\"";
    ground.reset();
    ground.route.edit("table: {name: t}\n  options", &format!("{query}\n  options"));
    changes(
        &ground,
        &[
            manifest("WHERE id > 0", "WHERE  id  >  0", &[]),
            // Some comments are hints.
            manifest("WHERE id > 0", "WHERE id /* a remark */ > 0", &["query"]),
            manifest("WHERE id > 0", "where id > 0", &["query"]),
            manifest("WHERE id > 0", "WHERE id > 1", &["query"]),
            manifest("WHERE id > 0", "WHERE id > 0 AND v <> ' '", &["query"]),
        ],
    );
}

/// The rows of the source, changed after the kill.
fn changed_rows(rows: Vec<Row>) -> Vec<Row> {
    rows.into_iter().map(|(id, k, _)| (id, k, Some(format!("new {id}")))).collect()
}

fn rows(sink: Sink) {
    let ground = Ground::new(sink, Mode::FullRefresh, false);
    let route = &ground.route;
    for (step, nth) in [
        (Step::Announced(Read), 1),
        (Step::Recorded(Put), 1),
        (Step::Recorded(Read), 1),
        (Step::Recorded(Read), 2),
        (Step::Announced(Load), 1),
    ] {
        for on_lost in ["reread", "stop"] {
            let what = format!("{step:?} {nth} {on_lost}");
            ground.reset();
            route.edit("consistency: exported", &format!("on_authority_lost: {on_lost}, consistency: exported"));
            ground.kill_at(&RUN, &step, nth).unwrap();
            route.source().execute_batch("UPDATE t SET v = 'new ' || id").unwrap();
            let ended = Ended::run(&route.folder, &["run", "m.yaml", "--resume"]);
            let (old, new) = (route.expected(1), changed_rows(route.expected(1)));
            let held = route.delivered();
            if ended.code() == Some(0) {
                // Everything had been read of one state, or everything was read again.
                assert!(held == new || (held == old && step == Step::Announced(Load)), "{what}: {held:?}");
            } else {
                assert_eq!(on_lost, "stop", "{ended}");
                let ended = ended.with(3, "error[consistency_authority_lost]");
                assert_eq!((held, ended.json()["published"].as_bool()), (old, Some(false)), "{what}");
            }
        }
    }
}

#[test]
fn parquet_rows() {
    rows(Sink::Parquet);
}

#[test]
fn sqlite_rows() {
    rows(Sink::Sqlite);
}
