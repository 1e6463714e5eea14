//! The dialect of SQL Server: over the real wire to a server that speaks T-SQL, and on answers that only SQL Server gives.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod authorities;
mod keys;
mod relations;

use std::collections::BTreeMap;

use dpone_adapters::odbc::{Config, Connection, Session};
use dpone_adapters::odbc_source::OdbcRequest;
use dpone_engine::codes::Code;
use dpone_engine::manifest::parse;
use dpone_engine::refusal::Refusal;
use dpone_fixtures::tds::{PASSWORD, TdsServer, USER, microsoft_driver};

/// A session of the server through Microsoft's driver.
fn connect(server: &TdsServer) -> Connection {
    let (driver, port) = (microsoft_driver().display().to_string(), server.port().to_string());
    let variables: BTreeMap<String, &str> = [
        ("DRIVER", driver.as_str()),
        ("HOST", "127.0.0.1"),
        ("PORT", &port),
        ("DATABASE", "master"),
        ("USERNAME", USER),
        ("PASSWORD", PASSWORD),
        ("OPTIONS", "TrustServerCertificate=yes"),
    ]
    .into_iter()
    .map(|(key, value)| (format!("DPONE_CONN_MS_{key}"), value))
    .collect();
    let config = Config::from_env("ms", true, |name| variables.get(name).map(|v| (*v).to_owned())).unwrap();
    Connection::open(&config, &Session { application: "dpone/test", ..Session::default() }).unwrap()
}

/// What a manifest with that relation and those options asks for.
fn request(relation: &str, options: &str) -> OdbcRequest {
    let text = format!(
        "name: t\nsource:\n  type: mssql\n  connection_id: ms\n  {relation}\n  options: {options}\n\
         sink: {{type: parquet, uri: 'file:///d', strategy: {{mode: append}}}}\n"
    );
    OdbcRequest::of(&parse(&text, "m.yaml").unwrap())
}

fn codes<T>(found: Result<T, Vec<Refusal>>) -> Vec<Code> {
    found.err().unwrap_or_default().into_iter().map(|refusal| refusal.code).collect()
}
