//! The target's own terms: names, types, and dpone's bookkeeping tables beside it.

use dpone_engine::schema::{Column, LogicalType, Schema};

use crate::postgres::quote_ident;

/// Bytes of the longest name; the server cuts what is longer.
pub(super) const NAME_BYTES: usize = 63;

/// Where the target is within its database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) schema: String,
    pub(super) table: String,
}

impl Place {
    /// A table beside the target, as SQL text.
    pub(super) fn beside(&self, table: &str) -> String {
        format!("{}.{}", quote_ident(&self.schema), quote_ident(table))
    }

    /// The target, as SQL text.
    pub(super) fn target(&self) -> String {
        self.beside(&self.table)
    }

    pub(super) fn claims(&self) -> String {
        self.beside("__dpone_claim")
    }

    pub(super) fn loads(&self) -> String {
        self.beside("__dpone_load")
    }

    pub(super) fn ledger(&self) -> String {
        self.beside("__dpone_ledger")
    }

    /// dpone's bookkeeping in the target's schema. It stays: it is what a later run recognises an earlier one by. A claim
    /// that was given back stays as well, so that a late one of the same run is refused.
    pub(super) fn books(&self) -> String {
        let (claims, loads, ledger) = (self.claims(), self.loads(), self.ledger());
        format!(
            "CREATE TABLE {claims} (target text NOT NULL, journal text NOT NULL, run text NOT NULL, epoch bigint NOT NULL,
                held boolean NOT NULL, PRIMARY KEY (target, journal, run)) USING heap;
             CREATE UNIQUE INDEX __dpone_held ON {claims} (target) WHERE held;
             CREATE TABLE {loads} (load text PRIMARY KEY, staging text NOT NULL, rows bigint NOT NULL) USING heap;
             CREATE TABLE {ledger} (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                publication text NOT NULL UNIQUE, target text NOT NULL, journal text NOT NULL, run text NOT NULL,
                identity text NOT NULL, rows bigint NOT NULL, published boolean NOT NULL) USING heap;
             CREATE UNIQUE INDEX __dpone_once ON {ledger} (target, journal, run) WHERE published"
        )
    }
}

/// The type that holds every value of a column exactly, and no others where there is such a type; `None` if there is none.
pub(super) fn declared(ty: &LogicalType) -> Option<String> {
    Some(match ty {
        LogicalType::Bool => "boolean".to_owned(),
        LogicalType::Int { bits: 8 | 16 } | LogicalType::UInt { bits: 8 } => "smallint".to_owned(),
        LogicalType::Int { bits: 32 } | LogicalType::UInt { bits: 16 } => "integer".to_owned(),
        LogicalType::Int { .. } | LogicalType::UInt { bits: 32 } => "bigint".to_owned(),
        LogicalType::UInt { .. } => "numeric(20,0)".to_owned(),
        LogicalType::Float { bits: 32 } => "real".to_owned(),
        LogicalType::Float { .. } => "double precision".to_owned(),
        LogicalType::Decimal { precision, scale } => format!("numeric({precision},{scale})"),
        LogicalType::Date => "date".to_owned(),
        LogicalType::Time { digits: digits @ ..=6 } => format!("time({digits})"),
        LogicalType::Timestamp { utc: false, digits: digits @ ..=6 } => format!("timestamp({digits})"),
        LogicalType::Timestamp { utc: true, digits: digits @ ..=6 } => format!("timestamp({digits}) with time zone"),
        LogicalType::Time { .. } | LogicalType::Timestamp { .. } => return None,
        LogicalType::Text => "text".to_owned(),
        LogicalType::Binary => "bytea".to_owned(),
        LogicalType::Uuid => "uuid".to_owned(),
    })
}

fn definition(column: &Column, key: &[String]) -> String {
    let not_null = if column.nullable && !key.contains(&column.name) { "" } else { " NOT NULL" };
    // A type without a form here was refused in the plan; the server refuses the statement.
    format!("{} {}{not_null}", quote_ident(&column.name), declared(&column.ty).unwrap_or_default())
}

/// The statement that creates a table for that schema; `key` becomes its primary key. `table` is SQL text.
pub(super) fn create(table: &str, schema: &Schema, key: &[String]) -> String {
    let mut parts: Vec<String> = schema.columns.iter().map(|c| definition(c, key)).collect();
    if !key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", names(key.iter())));
    }
    format!("CREATE TABLE {table} ({})", parts.join(", "))
}

/// The columns of a schema as SQL text.
pub(super) fn columns(schema: &Schema) -> String {
    names(schema.columns.iter().map(|c| &c.name))
}

/// Names as SQL text.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(|name| quote_ident(name)).collect::<Vec<_>>().join(", ")
}
