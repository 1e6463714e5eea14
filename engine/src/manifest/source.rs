//! The source side, resolved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::connection::{Connection, TableRef};
use super::text_enum::text_enum;
use crate::schema::LogicalType;

text_enum! {
    /// Kind of source.
    pub SourceType {
        /// A SQLite database file.
        Sqlite = "sqlite",
        /// PostgreSQL.
        Postgres = "postgres",
        /// MySQL or MariaDB.
        Mysql = "mysql",
        /// Microsoft SQL Server.
        Mssql = "mssql",
        /// Any ODBC driver.
        Odbc = "odbc",
        /// Files in a folder or object store.
        Files = "files",
        /// MongoDB.
        Mongodb = "mongodb",
    }
}

text_enum! {
    /// How the text of a column is made, where its source leaves that open.
    pub TextForm {
        /// Bytes without a stated encoding are characters of ISO 8859-1.
        Latin1 = "latin1",
        /// Any value as JSON.
        Json = "json",
    }
}

/// What is read: one table or one query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Relation {
    /// A table or view.
    Table(TableRef),
    /// One `SELECT` in the source's dialect, as written.
    Query(String),
}

/// The source of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: SourceType,
    /// How it is reached.
    pub connection: Connection,
    /// What is read.
    pub relation: Relation,
    /// Columns to deliver, in this order; `None` is all, in catalog order. Names are unique.
    pub columns: Option<Vec<String>>,
    /// Types of columns that the source leaves open, by exact column name.
    pub types: BTreeMap<String, LogicalType>,
    /// How the text of columns is made, by exact column name; each is among `types`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub text_forms: BTreeMap<String, TextForm>,
}
