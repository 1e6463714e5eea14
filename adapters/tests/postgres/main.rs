//! The protocol layer, against a real server.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod connecting;
mod copying;
mod silence;
mod statements;

use std::collections::BTreeMap;

use dpone_adapters::postgres::{Config, Session};
use dpone_fixtures::postgres::Postgres;

/// The settings for a database of the shared server, with some more.
fn config(database: &str, more: &[(&str, &str)]) -> Config {
    let port = Postgres::shared().port().to_string();
    let usual = [("HOST", "127.0.0.1"), ("PORT", port.as_str()), ("DATABASE", database), ("USERNAME", "test")];
    let variables: BTreeMap<String, String> =
        usual.iter().chain(more).map(|(name, value)| (format!("DPONE_CONN_T_{name}"), (*value).to_owned())).collect();
    Config::from_env("t", |name| variables.get(name).cloned()).unwrap()
}

/// A session of the superuser in a new database.
fn session() -> Session {
    Session::connect(&config(&Postgres::shared().database(), &[])).unwrap()
}
