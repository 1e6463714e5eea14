//! A database in a temporary folder, a source over it, and its rows as they come back out of Parquet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dpone_adapters::sqlite_source::{SqlitePlan, SqliteReader, SqliteRequest, SqliteSource, describe};
use dpone_engine::manifest::{Consistency, Fidelity, Relation, TableRef};
use dpone_engine::plan::facts::SourceFacts;
use dpone_engine::ports::{Body as _, Pull, Source, UnitReader};
use dpone_engine::profile::UnitProfile;
use dpone_engine::ranges::{Scope, Split, UnitRange, plan_ranges};
use dpone_engine::refusal::Refusal;
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::LogicalType;
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::rows::decode;

pub(crate) struct Db {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Db {
    pub(crate) fn new(sql: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        Self { folder, path }
    }

    pub(crate) fn connection(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    pub(crate) fn table(&self, name: &str) -> SqliteRequest {
        let table = TableRef { name: name.to_owned(), ..TableRef::default() };
        SqliteRequest {
            path: self.path.clone(),
            relation: Relation::Table(table),
            columns: None,
            types: BTreeMap::new(),
            key: None,
        }
    }

    pub(crate) fn query(&self, sql: &str) -> SqliteRequest {
        SqliteRequest { relation: Relation::Query(sql.to_owned()), ..self.table("") }
    }
}

pub(crate) fn with_type(mut request: SqliteRequest, column: &str, ty: LogicalType) -> SqliteRequest {
    request.types.insert(column.to_owned(), ty);
    request
}

pub(crate) fn with_key(mut request: SqliteRequest, column: &str) -> SqliteRequest {
    request.key = Some(column.to_owned());
    request
}

pub(crate) fn codes(refusals: &[Refusal]) -> Vec<&'static str> {
    refusals.iter().map(|r| r.code.as_str()).collect()
}

pub(crate) fn whole() -> Vec<UnitRange> {
    vec![UnitRange { ordinal: 0, scope: Scope::WholeTable }]
}

/// The units that the engine plans for the request's key.
pub(crate) fn units(request: &SqliteRequest, facts: &SourceFacts, count: u32) -> Vec<UnitRange> {
    let name = request.key.as_ref().unwrap();
    let (_, column) = facts.schema.column(name).unwrap();
    let extent = facts.key.clone().unwrap().extent;
    plan_ranges(Some(column), &Split::Auto { extent, units: count }).unwrap()
}

pub(crate) fn plan(request: &SqliteRequest, facts: &SourceFacts, units: Vec<UnitRange>) -> SqlitePlan {
    SqlitePlan {
        request: request.clone(),
        schema: facts.schema.clone(),
        units,
        consistency: Consistency::ExportedSnapshot,
        fidelity: Fidelity::Rows,
        target_chunk_bytes: u64::MAX,
        max_chunk_bytes: u64::MAX,
        nonce: 7,
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) fn done(outcome: Outcome) -> Receipt {
    match outcome {
        Outcome::Done(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

/// What a unit came to.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) chunks: Vec<(u64, u64)>,
    pub(crate) profile: UnitProfile,
    pub(crate) source_bytes: u64,
    pub(crate) asked: Vec<u64>,
}

/// Reads a unit to its end; what asks for more than `grant` is given it, up to `budget`.
pub(crate) async fn read_unit(reader: &mut SqliteReader, grant: u64, budget: u64, max_rows: u64) -> Result<Read, Why> {
    let mut read = Read::default();
    let mut next = grant;
    loop {
        match reader.next(next, max_rows).await? {
            Pull::Chunk(chunk) => {
                next = grant;
                let bytes: Vec<u8> = chunk.body.segments().concat();
                assert_eq!(chunk.facts.bytes, chunk.body.size());
                assert_eq!(chunk.facts.bytes, bytes.len() as u64);
                assert_eq!(chunk.facts.sha256, <[u8; 32]>::from(Sha256::digest(&bytes)));
                let rows = decode(bytes);
                assert_eq!(chunk.facts.rows, rows.len() as u64);
                read.chunks.push((chunk.facts.rows, chunk.facts.bytes));
                read.rows.extend(rows);
            }
            Pull::NeedsGrant { bytes } => {
                assert!(bytes > next, "asked for {bytes} when {next} were granted");
                read.asked.push(bytes);
                if bytes > budget {
                    return Ok(read);
                }
                next = bytes;
            }
            Pull::End { source_bytes, profile } => {
                read.source_bytes = source_bytes;
                read.profile = profile;
                assert_eq!(read.profile.rows, read.rows.len() as u64);
                return Ok(read);
            }
        }
    }
}

/// Reads every unit with that many sessions, one after another.
pub(crate) fn read_all(plan: SqlitePlan, grant: u64) -> Result<Vec<Read>, Why> {
    let units = plan.units.len() as u32;
    block_on(async {
        let source = SqliteSource::new(plan).unwrap();
        done(source.open(1).await);
        let mut all = Vec::new();
        for unit in 0..units {
            let mut reader = source.reader(unit).await?;
            let read = read_unit(&mut reader, grant, u64::MAX, u64::MAX).await;
            reader.close().await;
            all.push(read?);
        }
        source.close().await;
        Ok(all)
    })
}

/// The rows of a whole relation.
pub(crate) fn read_whole(request: &SqliteRequest) -> Result<Vec<Vec<String>>, Why> {
    let facts = describe(request).unwrap();
    Ok(read_all(plan(request, &facts, whole()), 8 << 20)?.remove(0).rows)
}
