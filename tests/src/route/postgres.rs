//! A route's PostgreSQL: one database of the test's own server, with the source in a schema and the target in another.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use dpone_fixtures::postgres::{Postgres, SUPERUSER};

use super::Row;

/// The schema of the source.
pub const SOURCE: &str = "src";
/// The schema of the target.
pub const TARGET: &str = "tgt";

/// The database of a route, and the copy of it to start from again.
#[derive(Clone, Debug)]
pub struct Database {
    name: String,
    base: String,
}

impl Database {
    /// A new one with those rows as the source.
    pub(super) fn new(rows: &[Row]) -> Self {
        let name = Postgres::shared().database();
        let database = Self { base: format!("{name}_base"), name };
        database.psql(&format!(
            "CREATE SCHEMA {SOURCE}; CREATE SCHEMA {TARGET};
             CREATE TABLE {SOURCE}.t (id bigint PRIMARY KEY, k bigint, v text); CREATE INDEX ON {SOURCE}.t (k)"
        ));
        let mut insert = format!("INSERT INTO {SOURCE}.t VALUES ");
        for (at, (id, k, v)) in rows.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let k = k.map_or("NULL".to_owned(), |k| k.to_string());
            let v = v.as_ref().map_or("NULL".to_owned(), |v| format!("'{}'", v.replace('\'', "''")));
            write!(insert, "{comma}({id}, {k}, {v})").expect("a string takes text");
        }
        database.script(&insert);
        // Texts with a bound, as ODBC drivers need them to be admitted before they are read.
        database.psql(&format!(
            "ANALYZE {SOURCE}.t;
             CREATE TABLE {SOURCE}.bounded (id bigint PRIMARY KEY, k bigint, v varchar(4000));
             INSERT INTO {SOURCE}.bounded TABLE {SOURCE}.t; CREATE INDEX ON {SOURCE}.bounded (k)"
        ));
        database
    }

    /// How a manifest reaches it.
    pub(super) fn connection(&self) -> String {
        let port = Postgres::shared().port();
        format!("{{host: 127.0.0.1, port: {port}, database: {}, username: {SUPERUSER}, ssl_mode: disable}}", self.name)
    }

    /// How a manifest reaches it by ODBC.
    pub(super) fn odbc(&self) -> String {
        let port = Postgres::shared().port();
        format!(
            "{{driver: PostgreSQL Unicode, host: 127.0.0.1, port: {port}, database: {}, username: {SUPERUSER}}}",
            self.name
        )
    }

    /// Runs statements; what they print.
    pub fn psql(&self, sql: &str) -> String {
        Postgres::shared().psql(&self.name, sql)
    }

    /// Runs a script of any length.
    fn script(&self, sql: &str) {
        let mut psql = Postgres::shared().psql_command(&self.name);
        let mut psql = psql.args(["-f", "-"]).stdin(Stdio::piped()).spawn().expect("psql can be run");
        psql.stdin.take().expect("a pipe").write_all(sql.as_bytes()).expect("psql reads it");
        assert!(psql.wait().expect("psql ends").success(), "the script runs");
    }

    /// What is there now is where every later try starts.
    pub(crate) fn keep(&self) {
        self.copy(&self.name, &self.base);
    }

    /// Back to that.
    pub(crate) fn reset(&self) {
        self.copy(&self.base, &self.name);
    }

    /// Sessions of a process that was killed may still be there for a moment: they are ended.
    fn copy(&self, from: &str, to: &str) {
        let server = Postgres::shared();
        server.psql("postgres", &format!("DROP DATABASE IF EXISTS {to} WITH (FORCE)"));
        let ended = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity";
        server.psql("postgres", &format!("{ended} WHERE datname = '{from}'"));
        server.psql("postgres", &format!("CREATE DATABASE {to} TEMPLATE {from}"));
    }

    /// The target's rows.
    pub(super) fn delivered(&self) -> Vec<Row> {
        if self.psql(&format!("SELECT to_regclass('{TARGET}.t') IS NULL")) == "t" {
            return Vec::new();
        }
        let text = self.psql(&format!("SELECT json_build_array(id, k, v) FROM {TARGET}.t"));
        text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
    }

    /// What a delivered run should have removed from the target.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let tables =
            format!("SELECT tablename FROM pg_tables WHERE schemaname = '{TARGET}' AND tablename ~ '^(stg|pub|old)_'");
        let mut left: Vec<String> = self.psql(&tables).lines().map(|t| format!("table {t}")).collect();
        for (what, from) in [("loads", "__dpone_load"), ("held claims", "__dpone_claim WHERE held")] {
            let there = from.split(' ').next().unwrap_or_default();
            if self.psql(&format!("SELECT to_regclass('{TARGET}.{there}') IS NULL")) == "t" {
                continue;
            }
            let count = self.psql(&format!("SELECT count(*) FROM {TARGET}.{from}"));
            if count != "0" {
                left.push(format!("{count} {what}"));
            }
        }
        left
    }
}
