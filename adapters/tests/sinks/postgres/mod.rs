//! The PostgreSQL sink over a real server.

mod conformance;
mod faults;
mod proxy;
mod refusals;
mod strategies;
mod types;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use dpone_adapters::body::Body;
use dpone_adapters::postgres_sink::{PostgresSink, PostgresTarget};
use dpone_engine::manifest::{
    Connection, ConnectionType, Quality, Sink as SinkManifest, SinkType, StrategyMode, TableRef,
};
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::schema::Schema;
use dpone_fixtures::postgres::Postgres;

use crate::given;

/// A new database of the shared server.
struct World {
    database: String,
    /// Where the sink connects to; the server's port unless there is something between.
    port: u16,
}

impl World {
    fn new() -> Self {
        Self::like("")
    }

    fn like(clauses: &str) -> Self {
        let server = Postgres::shared();
        Self { database: server.database_like(clauses), port: server.port() }
    }

    fn psql(&self, sql: &str) -> String {
        Postgres::shared().psql(&self.database, sql)
    }

    /// The sink's part of a manifest: the table `t` of a schema.
    fn manifest(&self, schema: Option<&str>, mode: StrategyMode) -> SinkManifest {
        let connection = Connection::Reference { connection_id: "t".into(), connection_type: ConnectionType::Env };
        let table = TableRef { schema: schema.map(str::to_owned), name: "t".to_owned(), ..TableRef::default() };
        SinkManifest { kind: SinkType::Postgres, connection, table: Some(table), strategy: given::strategy(mode) }
    }

    fn target_of(&self, manifest: &SinkManifest) -> PostgresTarget {
        self.target_as("test", manifest)
    }

    fn target_as(&self, user: &str, manifest: &SinkManifest) -> PostgresTarget {
        let port = self.port.to_string();
        let settings: BTreeMap<&str, &str> = [
            ("DPONE_CONN_T_HOST", "127.0.0.1"),
            ("DPONE_CONN_T_PORT", &port),
            ("DPONE_CONN_T_DATABASE", &self.database),
            ("DPONE_CONN_T_USERNAME", user),
            ("DPONE_CONN_T_SSLMODE", "disable"),
            ("DPONE_CONN_T_LOCK_TIMEOUT", "1"),
        ]
        .into();
        PostgresTarget::of(manifest, |name| settings.get(name).map(|value| (*value).to_owned())).unwrap()
    }

    fn target(&self, mode: StrategyMode) -> PostgresTarget {
        self.target_of(&self.manifest(None, mode))
    }

    fn sink(&self, mode: StrategyMode) -> PostgresSink {
        self.sink_of(mode, Quality::default())
    }

    fn sink_of(&self, mode: StrategyMode, quality: Quality) -> PostgresSink {
        PostgresSink::new(self.target(mode), given::schema(), quality)
    }

    fn base(&self, mode: StrategyMode) -> String {
        self.base_of(mode, &given::schema())
    }

    fn base_of(&self, mode: StrategyMode, schema: &Schema) -> String {
        self.target(mode).describe(schema).unwrap().base
    }

    /// The target's ids, in order.
    fn ids(&self) -> String {
        self.psql("select string_agg(id::text, ' ' order by id) from t")
    }
}

/// Rows with those ids, without the zero bytes that other targets can hold.
fn batch(ids: &[i64]) -> RecordBatch {
    let batch = given::batch(ids);
    let at = batch.schema().index_of("note").unwrap();
    let mut columns = batch.columns().to_vec();
    let notes: StringArray =
        columns[at].as_string::<i32>().iter().map(|note| note.map(|n| n.replace('\0', "\t\\N\n"))).collect();
    assert_eq!(notes.len(), ids.len());
    columns[at] = Arc::new(notes) as ArrayRef;
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// An object of rows with those ids.
fn object(ids: impl IntoIterator<Item = i64>) -> (ChunkFacts, Body) {
    given::object(&batch(&ids.into_iter().collect::<Vec<_>>()))
}

/// The definition that the sink gives a table of the tests' rows.
const TABLE: &str = "create table t (id bigint not null, flag boolean, amount numeric(20,2), day date, at timestamptz, \
                     share double precision, note text, raw bytea)";
