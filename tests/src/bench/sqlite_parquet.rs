//! SQLite to a Parquet dataset, beside a bare loop that reads every cell and drops it.

use std::ffi::OsString;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::{Failure, Report, Request, measure, table};

const BUDGET_MIB: u64 = 64;

/// Runs the benchmark in a temporary folder.
///
/// # Errors
/// If the table cannot be made, the product fails, or it delivers another number of rows.
pub fn sqlite_parquet(dpone: &Path, request: Request) -> Result<Report, Failure> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("source.db");
    table::create(&source, request.rows)?;
    let mut runs = Vec::new();
    for turn in 0..request.repeat {
        let work = folder.path().join(format!("run{turn}"));
        std::fs::create_dir(&work)?;
        let manifest = work.join("manifest.yaml");
        std::fs::write(&manifest, manifest_text(&source, &work, request))?;
        let ours: Vec<OsString> =
            [dpone.as_os_str(), "run".as_ref(), manifest.as_os_str(), "--no-progress".as_ref(), "-q".as_ref()]
                .map(OsString::from)
                .into();
        let ours = measure(&ours)?;
        let floor: Vec<OsString> = [std::env::current_exe()?.as_os_str(), "--floor-child".as_ref(), source.as_os_str()]
            .map(OsString::from)
            .into();
        runs.push((ours, measure(&floor)?));
        std::fs::remove_dir_all(&work)?;
    }
    Ok(Report::of("sqlite-parquet", request, BUDGET_MIB, "rusqlite reading every cell and dropping it", runs))
}

fn manifest_text(source: &Path, work: &Path, request: Request) -> String {
    let (source, work) = (source.display(), work.display());
    let (rows, readers) = (request.rows, request.readers);
    let ranges = readers.max(2) * 2;
    let in_flight = readers * 2;
    format!(
        "name: bench
source:
  type: sqlite
  path: {source}
  table: {{name: lineitem}}
  options:
    partitioning:
      column: id
      num_partitions: {ranges}
      bounds: auto
      range_parallelism: {{mode: required, reader_workers: {readers}, upload_workers: 2, max_inflight_ranges: {in_flight}, max_inflight_rows: 4000000, max_inflight_bytes: {BUDGET_MIB}MiB, consistency: exported_snapshot}}
sink:
  type: parquet
  uri: {work}/dataset
  strategy: {{mode: full_refresh}}
quality: {{min_rows: {rows}, fidelity: rows}}
runtime:
  journal: {work}/journal.db
  storage:
    evidence_dir: {work}/evidence
    transfer_store: {{type: local, uri: s3://stage/bench, local_root_dir: {work}/objects}}
"
    )
}

/// The floor: reads every cell of the table and drops it.
///
/// # Errors
/// If the table cannot be read.
pub fn floor_child(source: &Path) -> Result<u64, Failure> {
    let db = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = db.prepare("SELECT * FROM lineitem")?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut seen = 0_u64;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            seen = seen.wrapping_add(match row.get_ref(column)? {
                ValueRef::Null => 1,
                ValueRef::Integer(v) => v as u64,
                ValueRef::Real(v) => v.to_bits(),
                ValueRef::Text(v) | ValueRef::Blob(v) => v.len() as u64,
            });
        }
    }
    Ok(seen)
}
