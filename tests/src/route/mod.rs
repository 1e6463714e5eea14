//! Small routes that tests run, break and check: a source with NULL keys, and a target that is compared cell by cell.

mod postgres;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rusqlite::Connection;

pub use postgres::{Database, SOURCE, TARGET};

/// A row: its id, its key and its text.
pub type Row = (i64, Option<i64>, Option<String>);

/// What a route reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A table of a SQLite database.
    Sqlite,
    /// A table of a PostgreSQL database.
    Postgres,
    /// A table of a PostgreSQL database, read through its ODBC driver.
    Odbc,
}

/// Where a route delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sink {
    /// A dataset of Parquet files.
    Parquet,
    /// A table of a SQLite database.
    Sqlite,
    /// A table of a PostgreSQL database.
    Postgres,
}

/// How a route publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The target holds what was read.
    FullRefresh,
    /// What was read is added.
    Append,
    /// Rows are replaced or added by id.
    Merge,
    /// Rows with the keys that are read are replaced; the target holds [`FORMER`] before.
    PartitionReplace,
}

/// What a target holds whose partitions are replaced: a row of a partition that is not read, and three of ones that are.
const FORMER: &str =
    "INSERT INTO t VALUES (1000, 1000, 'stays'), (1001, 7, 'goes'), (1002, 7, NULL), (1003, NULL, 'goes')";

/// A route in a folder of its own.
#[derive(Clone, Debug)]
pub struct Route {
    /// The folder that the product runs in.
    pub folder: PathBuf,
    sink: Sink,
    mode: Mode,
    rows: i64,
    width: usize,
    database: Option<Database>,
}

impl Route {
    /// Makes the source and the manifest.
    ///
    /// # Panics
    /// If they cannot be made.
    pub fn new(folder: &Path, sink: Sink, mode: Mode, per_partition: bool) -> Self {
        Self::of(folder, Source::Sqlite, sink, mode, per_partition, 40, 0)
    }

    /// The same from a source of that kind.
    ///
    /// # Panics
    /// If they cannot be made.
    pub fn from(folder: &Path, source: Source, sink: Sink, mode: Mode, per_partition: bool) -> Self {
        Self::of(folder, source, sink, mode, per_partition, 40, 0)
    }

    /// The same, with that many rows, each with that many bytes that cannot be compressed much.
    ///
    /// # Panics
    /// If they cannot be made.
    pub fn of(
        folder: &Path,
        source: Source,
        sink: Sink,
        mode: Mode,
        per_partition: bool,
        rows: i64,
        width: usize,
    ) -> Self {
        let mut route = Self { folder: folder.to_owned(), sink, mode, rows, width, database: None };
        if source != Source::Sqlite || sink == Sink::Postgres {
            route.database = Some(Database::new(&route.rows()));
        }
        let connection = route.database.as_ref().map_or(String::new(), Database::connection);
        let from = match source {
            Source::Sqlite => {
                route.fill_source();
                "type: sqlite\n  path: source.db\n  table: {name: t}".to_owned()
            }
            Source::Postgres => {
                format!("type: postgres\n  connection: {connection}\n  table: {{schema: {SOURCE}, name: t}}")
            }
            Source::Odbc => {
                let odbc = route.database().odbc();
                format!("type: odbc\n  connection: {odbc}\n  table: {{schema: {SOURCE}, name: bounded}}")
            }
        };
        let topology = if per_partition { "per_partition" } else { "shared_per_run" };
        let target = match sink {
            Sink::Parquet => "type: parquet, uri: dataset".to_owned(),
            Sink::Sqlite => "type: sqlite, path: target.db, table: {name: t}".to_owned(),
            Sink::Postgres => {
                format!("type: postgres, connection: {connection}, table: {{schema: {TARGET}, name: t}}")
            }
        };
        let strategy = match mode {
            Mode::FullRefresh => "mode: full_refresh",
            Mode::Append => "mode: append",
            Mode::Merge => "mode: merge, key: [id]",
            Mode::PartitionReplace => "mode: partition_replace, key: [k]",
        };
        if mode == Mode::PartitionReplace {
            route.fill_target();
        }
        let manifest = format!(
            "name: route
source:
  {from}
  options:
    partitioning:
      column: k
      num_partitions: 2
      bounds: auto
      load_workers: {loads}
      range_parallelism: {{mode: required, reader_workers: 2, upload_workers: 2, max_inflight_ranges: 2, max_inflight_bytes: 16MiB, consistency: {consistency}, staging_topology: {topology}}}
sink: {{{target}, strategy: {{{strategy}}}}}
quality: {{min_rows: 1, not_null: [id], unique: [id]}}
runtime:
  journal: journal.db
  storage:
    work_dir: work
    evidence_dir: evidence
    transfer_store: {{type: local, uri: s3://stage/route, local_root_dir: objects}}
",
            loads = if per_partition { 2 } else { 1 },
            // No driver shares a snapshot between sessions.
            consistency = match source {
                Source::Odbc => "write_exclusion, consistency_authority: {lease: test, query: select 1}",
                Source::Sqlite | Source::Postgres => "exported_snapshot",
            },
        );
        fs::write(folder.join("m.yaml"), manifest).expect("a manifest");
        route
    }

    fn fill_source(&self) {
        let db = Connection::open(self.folder.join("source.db")).expect("a source");
        db.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, v TEXT); CREATE INDEX t_k ON t (k);")
            .expect("a table");
        let rows = db.unchecked_transaction().expect("a transaction");
        for (id, k, v) in self.rows() {
            rows.execute("INSERT INTO t VALUES (?1, ?2, ?3)", (id, k, v)).expect("a row");
        }
        rows.commit().expect("the rows");
    }

    fn fill_target(&self) {
        match &self.database {
            Some(database) if self.sink == Sink::Postgres => {
                let table = "CREATE TABLE t (id bigint, k bigint, v text)";
                database.psql(&format!("SET search_path = {TARGET}; {table}; {FORMER}"));
            }
            _ => {
                let db = Connection::open(self.folder.join("target.db")).expect("a target");
                let table = "CREATE TABLE t (id INTEGER, k INTEGER, v TEXT)";
                db.execute_batch(&format!("{table}; {FORMER}")).expect("a table");
            }
        }
    }

    /// The PostgreSQL database of the route.
    ///
    /// # Panics
    /// If it has none.
    pub fn database(&self) -> &Database {
        self.database.as_ref().expect("a route with PostgreSQL")
    }

    /// What is in its database now, if it has one, is where later tries start.
    pub(crate) fn keep(&self) {
        self.database.iter().for_each(Database::keep);
    }

    /// Back to that.
    pub(crate) fn reset(&self) {
        // A database that is only read stays as it is.
        self.database.iter().filter(|_| self.sink == Sink::Postgres).for_each(Database::reset);
    }

    /// The source's rows.
    pub fn rows(&self) -> Vec<Row> {
        let text = |id: i64| format!("row {id}{}", noise(id, self.width));
        (1..=self.rows).map(|id| (id, (id % 4 != 0).then_some(id * 7 % 50), (id % 5 != 0).then(|| text(id)))).collect()
    }

    /// Replaces a text of the manifest.
    ///
    /// # Panics
    /// If the manifest does not have it.
    pub fn edit(&self, old: &str, new: &str) {
        let path = self.folder.join("m.yaml");
        let text = fs::read_to_string(&path).expect("the manifest");
        assert!(text.contains(old), "the manifest has {old:?}");
        fs::write(path, text.replace(old, new)).expect("the manifest");
    }

    /// The source, to change it.
    ///
    /// # Panics
    /// If it cannot be opened.
    pub fn source(&self) -> Connection {
        Connection::open(self.folder.join("source.db")).expect("the source")
    }

    /// What the target must hold after that many deliveries, sorted.
    pub fn expected(&self, deliveries: usize) -> Vec<Row> {
        let times = if self.mode == Mode::Append { deliveries } else { deliveries.min(1) };
        let mut rows: Vec<Row> = (0..times).flat_map(|_| self.rows()).collect();
        if self.mode == Mode::PartitionReplace {
            rows.push((1000, Some(1000), Some("stays".to_owned())));
        }
        rows.sort();
        rows
    }

    /// What the target holds, sorted.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn delivered(&self) -> Vec<Row> {
        let mut rows = match self.sink {
            Sink::Parquet => self.dataset(),
            Sink::Sqlite => self.table(),
            Sink::Postgres => self.database().delivered(),
        };
        rows.sort();
        rows
    }

    fn table(&self) -> Vec<Row> {
        let path = self.folder.join("target.db");
        if !path.exists() {
            return Vec::new();
        }
        let db = Connection::open(path).expect("the target opens");
        let Ok(mut statement) = db.prepare("SELECT id, k, v FROM t") else { return Vec::new() };
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).expect("rows");
        rows.collect::<Result<_, _>>().expect("every row")
    }

    fn dataset(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for file in self.listed() {
            let file = File::open(self.folder.join("dataset").join(file)).expect("a listed file is there");
            let reader =
                ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file").build().expect("a reader");
            for batch in reader {
                let batch = batch.expect("a batch");
                let (id, k) =
                    (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_primitive::<Int64Type>());
                let v = batch.column(2).as_string::<i32>();
                for row in 0..batch.num_rows() {
                    let k = (!k.is_null(row)).then(|| k.value(row));
                    let v = (!v.is_null(row)).then(|| v.value(row).to_owned());
                    rows.push((id.value(row), k, v));
                }
            }
        }
        rows
    }

    /// The files that the newest pointer manifest lists.
    fn listed(&self) -> Vec<String> {
        self.listed_by(0)
    }

    /// The files that a pointer manifest lists, counted from the newest.
    fn listed_by(&self, before: usize) -> Vec<String> {
        let pointers = self.folder.join("dataset/_dpone");
        let mut names: Vec<String> = files(&pointers).into_iter().filter(|f| f.starts_with("manifest-")).collect();
        names.sort();
        let Some(newest) = names.iter().rev().nth(before) else { return Vec::new() };
        let text = fs::read_to_string(pointers.join(newest)).expect("the manifest is readable");
        let manifest: serde_json::Value = serde_json::from_str(&text).expect("the manifest is JSON");
        let files = manifest["files"].as_array().expect("the manifest lists files");
        files.iter().map(|f| f["path"].as_str().expect("a path").to_owned()).collect()
    }

    /// Whether a run holds the dataset's claim.
    fn claimed(&self) -> bool {
        let text = fs::read_to_string(self.folder.join("dataset/_dpone/claim.json")).unwrap_or_default();
        let claim: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        claim["held"] != serde_json::Value::Bool(false)
    }

    /// Everything that a delivered run should have removed and did not.
    pub fn leftovers(&self) -> Vec<String> {
        let mut left: Vec<String> =
            files(&self.folder.join("objects")).into_iter().map(|f| format!("object {f}")).collect();
        left.extend(files(&self.folder.join("work")).into_iter().map(|f| format!("work file {f}")));
        match self.sink {
            Sink::Parquet => {
                // The version before the newest stays for its readers.
                let listed = [self.listed_by(0), self.listed_by(1)].concat();
                for file in files(&self.folder.join("dataset")) {
                    let book = file.starts_with("_dpone/manifest-")
                        || file == "_dpone/.lock"
                        || file.starts_with("_dpone/fenced")
                        // A claim that was given back stays, marked, so that a late one is refused.
                        || (file == "_dpone/claim.json" && !self.claimed());
                    if !book && !listed.contains(&file) {
                        left.push(format!("dataset file {file}"));
                    }
                }
            }
            Sink::Sqlite if self.folder.join("target.db").exists() => {
                let db = Connection::open(self.folder.join("target.db")).expect("the target opens");
                let mut statement = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").expect("tables");
                let names = statement.query_map([], |r| r.get::<_, String>(0)).expect("names");
                let names: Vec<String> = names.collect::<Result<_, _>>().expect("every name");
                left.extend(names.into_iter().filter(|n| n.starts_with("stg_")).map(|n| format!("table {n}")));
                for (what, sql) in [
                    ("loads", "SELECT count(*) FROM __dpone_load"),
                    ("held claims", "SELECT count(*) FROM __dpone_claim WHERE held = 1"),
                ] {
                    let count: i64 = db.query_row(sql, [], |r| r.get(0)).unwrap_or(0);
                    if count > 0 {
                        left.push(format!("{count} {what}"));
                    }
                }
            }
            Sink::Sqlite => {}
            Sink::Postgres => left.extend(self.database().leftovers()),
        }
        left
    }
}

/// Characters that do not repeat, the same for the same seed.
fn noise(seed: i64, length: usize) -> String {
    let mut state = seed.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        // xorshift64: any generator would do.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + (state % 90) as u8)
    };
    (0..length).map(|_| next()).collect()
}

/// Every file below a folder, by its path from there, sorted.
pub fn files(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if let Ok(below) = path.strip_prefix(root) {
                found.push(below.display().to_string());
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}
