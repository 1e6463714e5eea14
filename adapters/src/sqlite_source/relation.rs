//! The SQL that reads a relation. Names are always quoted and qualified; boundary values are always bound.

use dpone_engine::codes::Code;
use dpone_engine::ranges::{Bound, Scope, render_value};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;
use rusqlite::Connection;
use rusqlite::limits::Limit;
use rusqlite::types::Value as Parameter;

/// How a relation and its columns are named in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RelationSql {
    /// `WITH …`, empty for tables and views.
    pub(super) with: String,
    /// What follows `FROM`.
    pub(super) from: String,
    /// One expression per delivered column.
    pub(super) columns: Vec<String>,
    /// What reads the columns, where that is not their expressions: text that is stored as UTF-16.
    pub(super) reading: Option<Vec<String>>,
    /// The expression of the range column.
    pub(super) key: Option<String>,
    /// The expression of the row's number, where rows have one.
    pub(super) rowid: Option<String>,
}

/// A statement and what is bound to it, the rows to skip excepted: that is the last parameter.
#[derive(Clone, Debug)]
pub(super) struct Select {
    pub(super) sql: String,
    pub(super) parameters: Vec<Parameter>,
}

/// An identifier in double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl RelationSql {
    /// The rows of a unit: the row's number first where there is one, then every column. `LIMIT -1 OFFSET ?` is always
    /// there, so that reading on after some rows runs the same plan.
    pub(super) fn rows(&self, scope: &Scope, ty: Option<&LogicalType>) -> Select {
        self.select(self.rowid.iter().chain(self.reading()).cloned(), scope, ty)
    }

    /// The byte lengths of the same rows' cells, in the same order, without their content.
    pub(super) fn lengths(&self, scope: &Scope, ty: Option<&LogicalType>) -> Select {
        let lengths = self.columns.iter().map(|c| format!("octet_length({c})"));
        self.select(self.rowid.iter().cloned().chain(lengths), scope, ty)
    }

    /// One row by its number.
    pub(super) fn row_by_number(&self) -> Option<String> {
        let rowid = self.rowid.as_ref()?;
        Some(format!("SELECT {} FROM {} WHERE {rowid} = ?", self.reading().join(", "), self.from))
    }

    /// Whether one statement can read all that is read of a row. SQLite has a limit on a statement's columns.
    pub(super) fn fits(&self, connection: &Connection) -> Result<(), Vec<Refusal>> {
        let most = connection.limit(Limit::SQLITE_LIMIT_COLUMN).map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(0));
        let needed = self.reading().len() + usize::from(self.rowid.is_some());
        if needed <= most {
            return Ok(());
        }
        let beside = needed - self.columns.len();
        let text = format!(
            "{} columns and {beside} beside them to tell rows and texts apart are more than the {most} that one statement \
             of SQLite can have",
            self.columns.len()
        );
        Err(vec![
            Refusal::new(Code::SourceQueryInvalid, text)
                .at("source.options.columns")
                .fix(format!("Name {} columns or fewer, and move the others in a run of their own.", most - beside)),
        ])
    }

    fn reading(&self) -> &[String] {
        self.reading.as_deref().unwrap_or(&self.columns)
    }

    pub(super) fn count(&self) -> String {
        format!("{}SELECT count(*) FROM {}", self.with, self.from)
    }

    /// The storage class and value of the least or greatest key.
    pub(super) fn extreme(&self, function: &str) -> Option<String> {
        let key = self.key.as_ref()?;
        Some(format!("{}SELECT {function}({key}) FROM {}", self.with, self.from))
    }

    fn select(&self, expressions: impl Iterator<Item = String>, scope: &Scope, ty: Option<&LogicalType>) -> Select {
        let expressions: Vec<String> = expressions.collect();
        let (condition, parameters) = self.condition(scope, ty);
        let sql = format!(
            "{}SELECT {} FROM {}{condition} LIMIT -1 OFFSET ?{}",
            self.with,
            expressions.join(", "),
            self.from,
            parameters.len() + 1
        );
        Select { sql, parameters }
    }

    /// The rows of a scope. The column itself is compared, never an expression of it, so that an index can be used.
    fn condition(&self, scope: &Scope, ty: Option<&LogicalType>) -> (String, Vec<Parameter>) {
        let key = self.key.as_deref().unwrap_or("NULL");
        let (mut parts, mut parameters) = (Vec::new(), Vec::new());
        match scope {
            Scope::WholeTable => return (String::new(), parameters),
            Scope::Null => return (format!(" WHERE {key} IS NULL"), parameters),
            Scope::Interval { lower, upper } => {
                for (bound, inclusive, exclusive) in [(lower, ">=", ">"), (upper, "<=", "<")] {
                    let (operator, value) = match bound {
                        Bound::Open => continue,
                        Bound::Inclusive(value) => (inclusive, value),
                        Bound::Exclusive(value) => (exclusive, value),
                    };
                    parameters.push(parameter(value, ty));
                    parts.push(format!("{key} {operator} ?{}", parameters.len()));
                }
            }
        }
        if parts.is_empty() {
            parts.push(format!("{key} IS NOT NULL"));
        }
        (format!(" WHERE {}", parts.join(" AND ")), parameters)
    }
}

/// A boundary in the form that the column's cells are compared in.
///
/// Integers are bound as such, and as a real only above every `i64`. A decimal is bound as the nearest double, as SQLite
/// has stored the cells: rounding keeps the order, so that each row still lies in exactly one range. Dates and timestamps
/// are bound in the shortest ISO form: every cell of an equal or later value sorts at or after it.
fn parameter(value: &Value, ty: Option<&LogicalType>) -> Parameter {
    match value {
        Value::Int(v) => i64::try_from(*v).map_or(Parameter::Real(*v as f64), Parameter::Integer),
        Value::Decimal { unscaled, scale } => {
            let power = 10_i128.checked_pow(u32::from(*scale)).unwrap_or(1);
            match i64::try_from(unscaled / power) {
                Ok(whole) if unscaled % power == 0 => Parameter::Integer(whole),
                _ => {
                    let text = render_value(&LogicalType::Decimal { precision: 38, scale: *scale }, value);
                    text.parse().map_or(Parameter::Null, Parameter::Real)
                }
            }
        }
        Value::Ticks { .. } => {
            let ty = ty.cloned().unwrap_or(LogicalType::Timestamp { digits: 6, utc: false });
            let text = render_value(&ty, value).replace('T', " ");
            let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            Parameter::Text(text.to_owned())
        }
        Value::Date(_) => Parameter::Text(render_value(&LogicalType::Date, value)),
        Value::Text(text) => Parameter::Text(text.clone()),
        Value::Bool(v) => Parameter::Integer(i64::from(*v)),
        Value::Float(_) => value.to_f64().map_or(Parameter::Null, Parameter::Real),
        Value::Bytes(bytes) => Parameter::Blob(bytes.clone()),
        Value::Uuid(bytes) => Parameter::Blob(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RelationSql {
        RelationSql {
            with: String::new(),
            from: format!("{} AS t", quoted("a \"b\"")),
            columns: vec![format!("t.{}", quoted("x y"))],
            reading: None,
            key: Some("t.k".into()),
            rowid: Some("t.rowid".into()),
        }
    }

    fn check(scope: Scope, ty: LogicalType, sql: &str, parameters: &[Parameter]) {
        let found = table().rows(&scope, Some(&ty));
        assert_eq!(found.sql, format!("SELECT t.rowid, t.\"x y\" FROM \"a \"\"b\"\"\" AS t{sql}"));
        assert_eq!(found.parameters, parameters);
    }

    #[test]
    fn scopes_become_conditions_on_the_column_itself() {
        let int = LogicalType::Int { bits: 64 };
        let interval = |lower, upper| Scope::Interval { lower, upper };
        let ticks = LogicalType::Timestamp { digits: 6, utc: false };
        let tick = |ticks| Value::Ticks { ticks, digits: 6 };
        check(Scope::WholeTable, int.clone(), " LIMIT -1 OFFSET ?1", &[]);
        check(Scope::Null, int.clone(), " WHERE t.k IS NULL LIMIT -1 OFFSET ?1", &[]);
        check(interval(Bound::Open, Bound::Open), int.clone(), " WHERE t.k IS NOT NULL LIMIT -1 OFFSET ?1", &[]);
        check(
            interval(Bound::Inclusive(Value::Int(-5)), Bound::Exclusive(Value::Int(1 << 70))),
            int.clone(),
            " WHERE t.k >= ?1 AND t.k < ?2 LIMIT -1 OFFSET ?3",
            &[Parameter::Integer(-5), Parameter::Real((1_u128 << 70) as f64)],
        );
        check(
            interval(Bound::Exclusive(Value::Decimal { unscaled: 1250, scale: 2 }), Bound::Open),
            int.clone(),
            " WHERE t.k > ?1 LIMIT -1 OFFSET ?2",
            &[Parameter::Real(12.5)],
        );
        check(
            interval(Bound::Open, Bound::Inclusive(Value::Decimal { unscaled: 1200, scale: 2 })),
            int,
            " WHERE t.k <= ?1 LIMIT -1 OFFSET ?2",
            &[Parameter::Integer(12)],
        );
        check(
            interval(Bound::Inclusive(tick(500_000)), Bound::Exclusive(tick(86_400_000_000))),
            ticks,
            " WHERE t.k >= ?1 AND t.k < ?2 LIMIT -1 OFFSET ?3",
            &[Parameter::Text("1970-01-01 00:00:00.5".into()), Parameter::Text("1970-01-02 00:00:00".into())],
        );
        check(
            interval(Bound::Inclusive(Value::Date(0)), Bound::Open),
            LogicalType::Date,
            " WHERE t.k >= ?1 LIMIT -1 OFFSET ?2",
            &[Parameter::Text("1970-01-01".into())],
        );
    }
}
