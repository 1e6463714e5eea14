//! A database of the shared server, a source over it, and its rows as they come back out of Parquet.

use std::collections::BTreeMap;

use dpone_adapters::postgres::Config;
use dpone_adapters::postgres_source::{
    PostgresPlan, PostgresReader, PostgresRequest, PostgresSource, RangePlanner, Stated, describe,
};
use dpone_engine::manifest::{Consistency, Fidelity, PlannerMode, Relation, TableRef};
use dpone_engine::ports::{Body as _, Pull, Source, UnitReader};
use dpone_engine::profile::UnitProfile;
use dpone_engine::ranges::{Bound, Scope, UnitRange};
use dpone_engine::run::{Outcome, Receipt, Why};
use dpone_engine::schema::{LogicalType, Schema};
use dpone_engine::value::Value;
use dpone_fixtures::postgres::Postgres;
use sha2::{Digest, Sha256};

use crate::rows::decode;

/// What preflight found of a request.
pub(crate) struct Facts {
    pub(crate) schema: Schema,
    pub(crate) min_grant: u64,
}

pub(crate) struct Db {
    pub(crate) name: String,
    pub(crate) config: Config,
}

impl Db {
    pub(crate) fn new(sql: &str) -> Self {
        Self::like("", sql)
    }

    pub(crate) fn like(clauses: &str, sql: &str) -> Self {
        let server = Postgres::shared();
        let name = server.database_like(clauses);
        server.psql(&name, sql);
        let url = server.url(&name);
        let get = |variable: &str| (variable == "DPONE_CONN_T_URL").then(|| url.clone());
        Self { name, config: Config::from_env("t", get).unwrap() }
    }

    pub(crate) fn psql(&self, sql: &str) -> String {
        Postgres::shared().psql(&self.name, sql)
    }

    pub(crate) fn table(&self, name: &str) -> PostgresRequest {
        let table = TableRef { name: name.to_owned(), ..TableRef::default() };
        PostgresRequest {
            relation: Relation::Table(table),
            columns: None,
            types: BTreeMap::new(),
            key: None,
            planner: RangePlanner { mode: PlannerMode::default(), units: 1, wanted: false, split_hot: false },
        }
    }

    pub(crate) fn facts(&self, request: &PostgresRequest) -> Facts {
        let found = describe(&self.config, request).unwrap();
        Facts { schema: found.schema, min_grant: found.min_grant }
    }

    pub(crate) fn source(&self, plan: PostgresPlan) -> PostgresSource {
        PostgresSource::new(plan, self.config.clone()).unwrap()
    }

    /// Reads every unit, one after another.
    pub(crate) fn read(&self, plan: PostgresPlan, grant: u64) -> Result<Vec<Read>, Why> {
        let units = plan.units.len() as u32;
        let source = self.source(plan);
        block_on(async {
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

    /// The rows of a whole table.
    pub(crate) fn rows(&self, request: &PostgresRequest) -> Result<Vec<Vec<String>>, Why> {
        Ok(self.read(plan(request, &self.facts(request), whole()), 8 << 20)?.remove(0).rows)
    }
}

pub(crate) fn with_type(mut request: PostgresRequest, column: &str, ty: LogicalType) -> PostgresRequest {
    request.types.insert(column.to_owned(), Stated { ty, form: None });
    request
}

pub(crate) fn whole() -> Vec<UnitRange> {
    vec![UnitRange { ordinal: 0, scope: Scope::WholeTable }]
}

/// Units of an integer key, cut below each of these, and one for NULL.
pub(crate) fn cut(cuts: &[i128]) -> Vec<UnitRange> {
    let value = |cut: Option<&i128>, bound: fn(Value) -> Bound| cut.map_or(Bound::Open, |v| bound(Value::Int(*v)));
    let mut units: Vec<UnitRange> = (0..=cuts.len())
        .map(|i| {
            let lower = value(i.checked_sub(1).and_then(|i| cuts.get(i)), Bound::Inclusive);
            UnitRange {
                ordinal: i as u32,
                scope: Scope::Interval { lower, upper: value(cuts.get(i), Bound::Exclusive) },
            }
        })
        .collect();
    units.push(UnitRange { ordinal: units.len() as u32, scope: Scope::Null });
    units
}

pub(crate) fn plan(request: &PostgresRequest, facts: &Facts, units: Vec<UnitRange>) -> PostgresPlan {
    PostgresPlan {
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
pub(crate) async fn read_unit(
    reader: &mut PostgresReader,
    grant: u64,
    budget: u64,
    max_rows: u64,
) -> Result<Read, Why> {
    let mut read = Read::default();
    let mut next = grant;
    loop {
        match reader.next(next, max_rows).await? {
            Pull::Chunk(chunk) => {
                next = grant;
                let bytes: Vec<u8> = chunk.body.segments().concat();
                assert_eq!((chunk.facts.bytes, chunk.body.size()), (bytes.len() as u64, bytes.len() as u64));
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
