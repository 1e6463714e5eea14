//! What preflight finds on a real server: types, keys, statistics, and what it refuses.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod keys;
mod relations;
mod types;

use std::collections::BTreeMap;

use dpone_adapters::postgres::{Config, Session};
use dpone_adapters::postgres_source::{PostgresRequest, RangePlanner, Stated, describe};
use dpone_engine::manifest::{PlannerMode, Relation, TableRef, TextForm, parse_type};
use dpone_engine::plan::SourceFacts;
use dpone_engine::refusal::Refusal;
use dpone_fixtures::postgres::Postgres;

/// A database of the shared server.
struct Database(String);

impl Database {
    /// A new one in which those statements were run.
    fn with(sql: &str) -> Self {
        let database = Self(Postgres::shared().database());
        database.run(sql);
        database
    }

    fn run(&self, sql: &str) {
        Postgres::shared().psql(&self.0, sql);
    }

    fn config(&self, user: &str) -> Config {
        let port = Postgres::shared().port().to_string();
        let variables = [("HOST", "127.0.0.1"), ("PORT", &port), ("DATABASE", &self.0), ("USERNAME", user)];
        let variables: BTreeMap<_, _> =
            variables.iter().map(|(k, v)| (format!("DPONE_CONN_T_{k}"), v.to_string())).collect();
        Config::from_env("t", |name| variables.get(name).cloned()).unwrap()
    }

    fn describe(&self, request: &PostgresRequest) -> Result<SourceFacts, Vec<Refusal>> {
        describe(&self.config("test"), request)
    }

    /// How many rows each statement has.
    fn counts(&self, statements: impl Iterator<Item = String>) -> Vec<u64> {
        let mut session = Session::connect(&self.config("test")).unwrap();
        let mut count = |sql: String| session.query(&format!("select count(*) from ({sql}) x")).unwrap()[0][0].clone();
        statements.map(|sql| count(sql).unwrap().parse().unwrap()).collect()
    }
}

fn table(name: &str) -> PostgresRequest {
    let table = TableRef { schema: Some("public".into()), name: name.into(), ..TableRef::default() };
    request(Relation::Table(table))
}

fn query(sql: &str) -> PostgresRequest {
    request(Relation::Query(sql.into()))
}

fn request(relation: Relation) -> PostgresRequest {
    let planner = RangePlanner { mode: PlannerMode::Auto, units: 4, wanted: true, split_hot: false };
    PostgresRequest { relation, columns: None, types: BTreeMap::new(), key: None, planner }
}

/// That request, cut by a column.
fn by(request: PostgresRequest, key: &str, mode: PlannerMode) -> PostgresRequest {
    let planner = RangePlanner { mode, ..request.planner };
    PostgresRequest { key: Some(key.into()), planner, ..request }
}

fn stated(request: PostgresRequest, types: &[(&str, &str)]) -> PostgresRequest {
    let one = |(name, ty): &(&str, &str)| {
        let (ty, form) = match *ty {
            "json" => ("text", Some(TextForm::Json)),
            ty => (ty, None),
        };
        ((*name).to_owned(), Stated { ty: parse_type(ty).unwrap(), form })
    };
    PostgresRequest { types: types.iter().map(one).collect(), ..request }
}

/// The columns as `name type [not null] (declared)`.
fn shown(facts: &SourceFacts) -> Vec<String> {
    let null = |nullable| if nullable { "" } else { " not null" };
    let columns = facts.schema.columns.iter();
    columns.map(|c| format!("{} {}{} ({})", c.name, c.ty, null(c.nullable), c.declared)).collect()
}

fn codes(result: Result<SourceFacts, Vec<Refusal>>) -> Vec<String> {
    result.map(|_| ()).unwrap_err().iter().map(|refusal| refusal.code.to_string()).collect()
}
