//! PostgreSQL to a Parquet dataset and to PostgreSQL, beside psql's `COPY`, on a private server.

use std::ffi::OsString;
use std::path::Path;

use dpone_fixtures::postgres::{Postgres, SUPERUSER};

use super::peers::{Job, Peers};
use super::{Failure, Measured, Report, Request, measure};

const BUDGET_MIB: u64 = 32;

/// Sixteen columns like an order line's, NULLs included, the same rows for the same number.
const TABLE: &str = "CREATE TABLE lineitem (
    id bigint PRIMARY KEY, order_id bigint NOT NULL, part_id integer NOT NULL, supplier_id integer NOT NULL,
    line smallint NOT NULL, quantity numeric(15,2) NOT NULL, price numeric(15,2) NOT NULL, discount numeric(15,2),
    tax numeric(15,2) NOT NULL, return_flag text NOT NULL, status text NOT NULL, shipped date, committed date NOT NULL,
    received timestamptz, mode text NOT NULL, comment text NOT NULL)";

/// `$rows` of them. A multiplicative hash of the row's number stands for chance.
const ROWS: &str = "INSERT INTO lineitem
    SELECT i + 1, i / 4, h % 200000, h % 9973, i % 4 + 1, h % 50 + 1, (h % 10000000) / 100.0,
        CASE WHEN h % 10 <> 0 THEN h % 11 / 100.0 END, h % 9 / 100.0, substr('ANR', (h % 3)::int + 1, 1),
        substr('OF', (h % 2)::int + 1, 1), CASE WHEN h % 20 <> 0 THEN date '1992-01-02' + (h % 2500)::int END,
        date '1992-02-01' + (h % 2500)::int,
        CASE WHEN h % 20 <> 1 THEN timestamptz '1992-01-09 00:00:00.123456+00' + (h % 200000000) * interval '1 second' END,
        (ARRAY['REG AIR','AIR','RAIL','SHIP','TRUCK','MAIL','FOB'])[h % 7 + 1],
        concat_ws(' ', (ARRAY['carefully','final','deposits','sleep','blithely'])[h % 5 + 1],
            (ARRAY['among','the','ironic','requests'])[h % 4 + 1], md5(h::text))
    FROM (SELECT i, (i * 2654435761) % 4294967296 AS h FROM generate_series(0, $rows::bigint - 1) i) x";

/// A server with the table, and a database for what is delivered.
pub(super) struct Bench {
    pub(super) server: Postgres,
    pub(super) source: String,
    target: String,
}

impl Bench {
    fn start(rows: u64) -> Self {
        Self::start_with(rows, TABLE)
    }

    /// The same table with a bound to each text, as ODBC drivers need them.
    pub(super) fn start_bounded(rows: u64) -> Self {
        let table = TABLE.replace("comment text", "comment varchar(80)").replace(" text", " varchar(10)");
        Self::start_with(rows, &table)
    }

    fn start_with(rows: u64, table: &str) -> Self {
        // A server as it would run: synced, with room for some of the table.
        let server = Postgres::start(&[
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("shared_buffers", "256MB"),
            ("max_wal_size", "4GB"),
        ]);
        let (source, target) = (server.database(), server.database());
        server.psql(&source, table);
        server.psql(&source, &ROWS.replace("$rows", &rows.to_string()));
        server.psql(&source, "VACUUM (ANALYZE, FREEZE) lineitem");
        Self { server, source, target }
    }

    fn psql(&self, database: &str, sql: &str) -> Vec<OsString> {
        let mut command = self.server.psql_command(database);
        // As the product comes in: over TCP.
        command.args(["-h", "127.0.0.1", "-c", sql]);
        let mut words = vec![command.get_program().to_owned()];
        words.extend(command.get_args().map(ToOwned::to_owned));
        words
    }

    /// One run of the product in that folder.
    fn product(&self, dpone: &Path, folder: &Path, request: Request, sink: &str) -> Result<Measured, Failure> {
        std::fs::create_dir_all(folder)?;
        let manifest = folder.join("manifest.yaml");
        std::fs::write(&manifest, manifest_text(folder, request, sink))?;
        let source = format!("DPONE_CONN_SOURCE_URL={}", self.server.url(&self.source));
        let target = format!("DPONE_CONN_TARGET_URL={}", self.server.url(&self.target));
        let words: [&std::ffi::OsStr; 8] = [
            "env".as_ref(),
            source.as_ref(),
            target.as_ref(),
            dpone.as_ref(),
            "run".as_ref(),
            manifest.as_ref(),
            "--no-progress".as_ref(),
            "-q".as_ref(),
        ];
        measure(&words.map(OsString::from))
    }
}

fn manifest_text(folder: &Path, request: Request, sink: &str) -> String {
    let folder = folder.display();
    let (rows, readers) = (request.rows, request.readers);
    let ranges = readers.max(2) * 2;
    let in_flight = readers * 2;
    let sink = sink.replace("$folder", &folder.to_string());
    format!(
        "name: bench
source:
  type: postgres
  connection_id: source
  connection_type: env
  table: {{schema: public, name: lineitem}}
  options:
    partitioning:
      column: id
      num_partitions: {ranges}
      bounds: auto
      range_parallelism: {{mode: required, reader_workers: {readers}, upload_workers: 2, max_inflight_ranges: {in_flight}, max_inflight_rows: 4000000, max_inflight_bytes: {BUDGET_MIB}MiB, consistency: exported_snapshot}}
sink:
{sink}
quality: {{min_rows: {rows}, fidelity: rows}}
runtime:
  journal: {folder}/journal.db
  storage:
    work_dir: {folder}/work
    evidence_dir: {folder}/evidence
    transfer_store: {{type: local, uri: s3://stage/bench, local_root_dir: {folder}/objects}}
"
    )
}

/// To a Parquet dataset. The floor is psql's binary `COPY` to nowhere.
///
/// # Errors
/// If the server, the product or the floor fails.
pub fn pg_parquet(dpone: &Path, request: Request) -> Result<Report, Failure> {
    let bench = Bench::start(request.rows);
    let folder = tempfile::tempdir()?;
    let mut peers = Peers::of(request, |_| true)?;
    let mut runs = Vec::new();
    for turn in 0..request.repeat {
        let work = folder.path().join(format!("run{turn}"));
        let sink = "  type: parquet\n  uri: $folder/dataset\n  strategy: {mode: full_refresh}";
        let ours = bench.product(dpone, &work, request, sink)?;
        std::fs::remove_dir_all(&work)?;
        let floor = measure(&bench.psql(&bench.source, "COPY lineitem TO STDOUT (FORMAT binary)"))?;
        runs.push((ours, floor));
        let job = Job {
            port: bench.server.port(),
            user: SUPERUSER,
            database: &bench.source,
            table: "lineitem",
            readers: request.readers,
        };
        peers.run_all(&job, folder.path())?;
    }
    let mut report = Report::of("pg-parquet", request, BUDGET_MIB, "psql COPY (FORMAT binary) to /dev/null", runs);
    report.peers = peers.reports();
    Ok(report)
}

/// To another PostgreSQL table. The floor is one psql's binary `COPY` into another's.
///
/// # Errors
/// If the server, the product or the floor fails.
pub fn pg_postgres(dpone: &Path, request: Request) -> Result<Report, Failure> {
    let bench = Bench::start(request.rows);
    let folder = tempfile::tempdir()?;
    let mut runs = Vec::new();
    for turn in 0..request.repeat {
        let work = folder.path().join(format!("run{turn}"));
        let sink = "  type: postgres\n  connection_id: target\n  connection_type: env\n  table: {schema: public, name: lineitem}\n  strategy: {mode: full_refresh}";
        let ours = bench.product(dpone, &work, request, sink)?;
        std::fs::remove_dir_all(&work)?;
        let held = bench.server.psql(&bench.target, "SELECT count(*) FROM lineitem");
        if held != request.rows.to_string() {
            return Err(format!("{held} rows were delivered").into());
        }
        // The next turn creates the table again, as this one did.
        bench.server.psql(&bench.target, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; CHECKPOINT");
        bench.server.psql(&bench.target, &TABLE.replace(" PRIMARY KEY", " NOT NULL"));
        let floor = bench.piped()?;
        bench.server.psql(&bench.target, "DROP TABLE lineitem; CHECKPOINT");
        runs.push((ours, floor));
    }
    Ok(Report::of("pg-postgres", request, BUDGET_MIB, "psql COPY (FORMAT binary) | psql COPY (FORMAT binary)", runs))
}

impl Bench {
    fn piped(&self) -> Result<Measured, Failure> {
        let quoted = |words: Vec<OsString>| {
            let words = words.iter().map(|w| format!("'{}'", w.to_string_lossy()));
            words.collect::<Vec<_>>().join(" ")
        };
        let out = quoted(self.psql(&self.source, "COPY lineitem TO STDOUT (FORMAT binary)"));
        let into = quoted(self.psql(&self.target, "COPY lineitem FROM STDIN (FORMAT binary)"));
        measure(&["bash", "-o", "pipefail", "-c", &format!("{out} | {into}")].map(OsString::from))
    }
}
