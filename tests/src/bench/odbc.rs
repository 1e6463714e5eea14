//! A table that is read through an ODBC driver, psqlODBC on a private PostgreSQL, to a Parquet dataset.

use std::ffi::OsString;
use std::path::Path;

use dpone_fixtures::postgres::SUPERUSER;
use odbc_api::buffers::{BufferDesc, ColumnarDynBuffer};
use odbc_api::{ConnectionOptions, Cursor as _, ResultSetMetadata as _, environment};

use super::peers::{Job, Peers};
use super::postgres::Bench;
use super::{Failure, Measured, Report, Request, measure};

const BUDGET_MIB: u64 = 32;
/// Where Debian's package `odbc-postgresql` puts its driver.
pub(super) const PSQLODBC: &str = "/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so";
const FLOOR: &str = "fetch loop of 2,048 rows at a time into bound buffers, the same driver";

/// To a Parquet dataset. The floor is a bare fetch loop with the same driver.
///
/// # Errors
/// If the server, the product or the floor fails.
pub fn odbc_parquet(dpone: &Path, request: Request) -> Result<Report, Failure> {
    let bench = Bench::start_bounded(request.rows);
    let folder = tempfile::tempdir()?;
    let mut peers = Peers::of(request, |name| name.contains("odbc"))?;
    let mut runs = Vec::new();
    for turn in 0..request.repeat {
        let work = folder.path().join(format!("run{turn}"));
        let ours = product(&bench, dpone, &work, request)?;
        std::fs::remove_dir_all(&work)?;
        let child = std::env::current_exe()?.into_os_string();
        let floor = measure(&[child, "--odbc-floor-child".into(), connection(&bench).into()])?;
        runs.push((ours, floor));
        let (port, database) = (bench.server.port(), &bench.source);
        let job = Job { port, user: SUPERUSER, database, table: "lineitem", readers: request.readers };
        peers.run_all(&job, folder.path())?;
    }
    let mut report = Report::of("odbc-parquet", request, BUDGET_MIB, FLOOR, runs);
    report.peers = peers.reports();
    Ok(report)
}

fn connection(bench: &Bench) -> String {
    let (port, database) = (bench.server.port(), &bench.source);
    format!(
        "Driver={PSQLODBC};Server=127.0.0.1;Port={port};Uid={SUPERUSER};Database={database};UseDeclareFetch=1;Fetch=4096;"
    )
}

fn product(bench: &Bench, dpone: &Path, folder: &Path, request: Request) -> Result<Measured, Failure> {
    std::fs::create_dir_all(folder)?;
    let manifest = folder.join("manifest.yaml");
    // One reader reads one range: it is the floor's scan.
    let ranges = if request.readers == 1 { 1 } else { request.readers * 2 };
    let (rows, readers, in_flight) = (request.rows, request.readers, request.readers * 2);
    let at = folder.display();
    std::fs::write(
        &manifest,
        format!(
            "name: bench
source:
  type: odbc
  connection_id: source
  connection_type: env
  table: {{schema: public, name: lineitem}}
  options:
    partitioning:
      column: id
      num_partitions: {ranges}
      bounds: auto
      range_parallelism: {{mode: required, reader_workers: {readers}, upload_workers: 2, max_inflight_ranges: {in_flight}, max_inflight_rows: 4000000, max_inflight_bytes: {BUDGET_MIB}MiB, consistency: immutable}}
sink: {{type: parquet, uri: {at}/dataset, strategy: {{mode: full_refresh}}}}
quality: {{min_rows: {rows}, fidelity: rows}}
runtime:
  journal: {at}/journal.db
  storage:
    work_dir: {at}/work
    evidence_dir: {at}/evidence
    transfer_store: {{type: local, uri: s3://stage/bench, local_root_dir: {at}/objects}}
"
        ),
    )?;
    let port = bench.server.port();
    let mut words: Vec<OsString> = vec!["env".into()];
    for (name, value) in [
        ("DRIVER", PSQLODBC.to_owned()),
        ("HOST", "127.0.0.1".to_owned()),
        ("PORT", port.to_string()),
        ("DATABASE", bench.source.clone()),
        ("USERNAME", SUPERUSER.to_owned()),
    ] {
        words.push(format!("DPONE_CONN_SOURCE_{name}={value}").into());
    }
    words.push(dpone.as_os_str().to_owned());
    words.push("run".into());
    words.push(manifest.into_os_string());
    words.extend(["--no-progress", "-q"].map(OsString::from));
    measure(&words)
}

/// The floor: every row into bound buffers, nothing made of it.
///
/// # Errors
/// As the driver says.
pub fn odbc_floor_child(connection: &str) -> Result<u64, Failure> {
    let connection = environment()?.connect_with_connection_string(connection, ConnectionOptions::default())?;
    let mut cursor = connection.execute("SELECT * FROM lineitem", (), None)?.ok_or("no rows")?;
    let columns = u16::try_from(cursor.num_result_cols()?)?;
    let nullable = true;
    let mut buffers = Vec::new();
    for column in 1..=columns {
        use odbc_api::DataType as D;
        buffers.push(match cursor.col_data_type(column)? {
            D::BigInt => BufferDesc::I64 { nullable },
            D::Integer => BufferDesc::I32 { nullable },
            D::SmallInt => BufferDesc::I16 { nullable },
            D::Date => BufferDesc::Date { nullable },
            D::Timestamp { .. } => BufferDesc::Timestamp { nullable },
            D::Numeric { precision, .. } | D::Decimal { precision, .. } => {
                BufferDesc::Text { max_str_len: precision + 3 }
            }
            other => BufferDesc::WText { max_str_len: other.column_size().map_or(80, std::num::NonZeroUsize::get) },
        });
    }
    let mut rows = cursor.bind_buffer(ColumnarDynBuffer::from_descs(2048, buffers))?;
    let mut seen = 0_u64;
    while let Some(block) = rows.fetch()? {
        seen += block.num_rows() as u64;
    }
    Ok(seen)
}
