//! The SQL that reads a relation. A condition never wraps the column, so that an index can be used.

use dpone_engine::ranges::{Bound, Scope};
use dpone_engine::value::Value;

/// How a relation and its columns are named in a statement.
#[derive(Clone, Debug)]
pub struct RelationSql {
    /// What precedes the relation's own text: nothing, or a `WITH`.
    pub prefix: String,
    /// What follows `FROM`: the relation under the alias `t`.
    pub from: String,
    /// The range key as a column of `t`, and what writes a boundary of it as a literal; `None` if no ranges are read.
    pub key: Option<KeySql>,
    /// The function that counts rows without overflow.
    pub count: &'static str,
}

/// The range key in a statement.
#[derive(Clone, Debug)]
pub struct KeySql {
    /// The column itself.
    pub expression: String,
    /// The type as the source declares it.
    pub declared: String,
    /// Writes a boundary as a literal of exactly that type.
    pub literal: fn(&Value, &str) -> String,
}

impl RelationSql {
    /// The rows of a unit: these expressions of it.
    pub fn rows(&self, expressions: &[&str], scope: &Scope) -> String {
        format!("{}SELECT {} FROM {}{}", self.prefix, expressions.join(", "), self.from, self.condition(scope))
    }

    /// How many rows the relation has, whatever their key.
    pub fn count(&self) -> String {
        format!("{}SELECT {} FROM {}", self.prefix, self.count, self.from)
    }

    fn condition(&self, scope: &Scope) -> String {
        let Some(key) = &self.key else { return String::new() };
        let column = &key.expression;
        let parts: Vec<String> = match scope {
            Scope::WholeTable => return String::new(),
            Scope::Null => return format!(" WHERE {column} IS NULL"),
            Scope::Interval { lower, upper } => {
                [key.bound(lower, ">=", ">"), key.bound(upper, "<=", "<")].into_iter().flatten().collect()
            }
        };
        if parts.is_empty() {
            return format!(" WHERE {column} IS NOT NULL");
        }
        format!(" WHERE {}", parts.join(" AND "))
    }
}

impl KeySql {
    fn bound(&self, bound: &Bound, inclusive: &str, exclusive: &str) -> Option<String> {
        let (operator, value) = match bound {
            Bound::Open => return None,
            Bound::Inclusive(value) => (inclusive, value),
            Bound::Exclusive(value) => (exclusive, value),
        };
        Some(format!("{} {operator} {}", self.expression, (self.literal)(value, &self.declared)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_become_conditions_on_the_column_itself() {
        let literal = |value: &Value, declared: &str| match value {
            Value::Int(v) => format!("CAST({v} AS {declared})"),
            _ => String::new(),
        };
        let key = KeySql { expression: "t.[k]".into(), declared: "int".into(), literal };
        let sql =
            RelationSql { prefix: String::new(), from: "[dbo].[a] AS t".into(), key: Some(key), count: "COUNT_BIG(*)" };
        let interval = |lower, upper| Scope::Interval { lower, upper };
        for (scope, expect) in [
            (Scope::WholeTable, ""),
            (Scope::Null, " WHERE t.[k] IS NULL"),
            (interval(Bound::Open, Bound::Open), " WHERE t.[k] IS NOT NULL"),
            (interval(Bound::Open, Bound::Exclusive(Value::Int(-5))), " WHERE t.[k] < CAST(-5 AS int)"),
            (
                interval(Bound::Exclusive(Value::Int(1)), Bound::Inclusive(Value::Int(2))),
                " WHERE t.[k] > CAST(1 AS int) AND t.[k] <= CAST(2 AS int)",
            ),
        ] {
            assert_eq!(
                sql.rows(&["t.[x]", "t.[y]"], &scope),
                format!("SELECT t.[x], t.[y] FROM [dbo].[a] AS t{expect}")
            );
        }
        assert_eq!(sql.count(), "SELECT COUNT_BIG(*) FROM [dbo].[a] AS t");
    }
}
