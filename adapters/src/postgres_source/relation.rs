//! The SQL that reads a relation. Names are always quoted and qualified; a condition never wraps the column.

use dpone_engine::ranges::{Bound, Scope};
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::literal::literal;

/// What the range key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A column; boundaries are literals of this SQL type.
    Column {
        /// The SQL type, qualified.
        cast: String,
        /// Its logical type.
        ty: LogicalType,
    },
    /// The number of the block that holds the row. It means something only in one snapshot.
    Block,
}

/// The range key in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySql {
    /// The column itself.
    pub expression: String,
    /// What it is.
    pub kind: KeyKind,
}

/// How a relation and its columns are named in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationSql {
    /// What follows `FROM`: the relation under the alias `t`.
    pub from: String,
    /// One expression per delivered column, casts included.
    pub columns: Vec<String>,
    /// The range key, if ranges are read.
    pub key: Option<KeySql>,
}

impl RelationSql {
    /// The rows of a unit.
    pub fn rows(&self, scope: &Scope) -> String {
        format!("SELECT {} FROM {}{}", self.columns.join(", "), self.from, self.condition(scope))
    }

    /// The statement that streams the rows of a unit.
    pub fn copy(&self, scope: &Scope) -> String {
        format!("COPY ({}) TO STDOUT (FORMAT binary)", self.rows(scope))
    }

    /// How many rows the relation has, whatever their key.
    pub fn count(&self) -> String {
        format!("SELECT pg_catalog.count(*) FROM {}", self.from)
    }

    fn condition(&self, scope: &Scope) -> String {
        let Some(key) = &self.key else { return String::new() };
        let column = &key.expression;
        let parts: Vec<String> = match scope {
            Scope::WholeTable => return String::new(),
            Scope::Null => return format!(" WHERE {column} IS NULL"),
            Scope::Interval { lower, upper } => [key.lower(lower), key.upper(upper)].into_iter().flatten().collect(),
        };
        if parts.is_empty() {
            return format!(" WHERE {column} IS NOT NULL");
        }
        format!(" WHERE {}", parts.join(" AND "))
    }
}

impl KeySql {
    fn lower(&self, bound: &Bound) -> Option<String> {
        match (&self.kind, bound) {
            (_, Bound::Open) => None,
            (KeyKind::Column { cast, ty }, Bound::Inclusive(value)) => {
                Some(format!("{} >= {}", self.expression, literal(value, ty, cast)))
            }
            (KeyKind::Column { cast, ty }, Bound::Exclusive(value)) => {
                Some(format!("{} > {}", self.expression, literal(value, ty, cast)))
            }
            (KeyKind::Block, Bound::Inclusive(value)) => Some(self.block(">=", value, 0)),
            (KeyKind::Block, Bound::Exclusive(value)) => Some(self.block(">=", value, 1)),
        }
    }

    fn upper(&self, bound: &Bound) -> Option<String> {
        match (&self.kind, bound) {
            (_, Bound::Open) => None,
            (KeyKind::Column { cast, ty }, Bound::Inclusive(value)) => {
                Some(format!("{} <= {}", self.expression, literal(value, ty, cast)))
            }
            (KeyKind::Column { cast, ty }, Bound::Exclusive(value)) => {
                Some(format!("{} < {}", self.expression, literal(value, ty, cast)))
            }
            (KeyKind::Block, Bound::Inclusive(value)) => Some(self.block("<", value, 1)),
            (KeyKind::Block, Bound::Exclusive(value)) => Some(self.block("<", value, 0)),
        }
    }

    /// Rows on one side of a block's first place. The last block number is reserved by the server, so that one more than
    /// any block that holds rows is still a block number.
    fn block(&self, operator: &str, value: &Value, further: i128) -> String {
        let block = match value {
            Value::Int(block) => (block + further).clamp(0, i128::from(u32::MAX)),
            _ => i128::from(u32::MAX),
        };
        format!("{} {operator} '({block},0)'::pg_catalog.tid", self.expression)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(kind: KeyKind, expression: &str) -> RelationSql {
        RelationSql {
            from: "\"s\".\"a \"\"b\"\"\" AS t".into(),
            columns: vec!["t.\"x y\"".into(), "t.\"m\"::pg_catalog.numeric".into()],
            key: Some(KeySql { expression: expression.into(), kind }),
        }
    }

    #[test]
    fn scopes_become_conditions_on_the_column_itself() {
        let int = KeyKind::Column { cast: "pg_catalog.int4".into(), ty: LogicalType::Int { bits: 32 } };
        let interval = |lower, upper| Scope::Interval { lower, upper };
        let (at, below) = (|v| Bound::Inclusive(Value::Int(v)), |v| Bound::Exclusive(Value::Int(v)));
        let select = "SELECT t.\"x y\", t.\"m\"::pg_catalog.numeric FROM \"s\".\"a \"\"b\"\"\" AS t";
        let check = |sql: &RelationSql, scope: Scope, expect: &str| {
            assert_eq!(sql.rows(&scope), format!("{select}{expect}"));
        };
        let sql = relation(int, "t.\"k\"");
        check(&sql, Scope::WholeTable, "");
        check(&sql, Scope::Null, " WHERE t.\"k\" IS NULL");
        check(&sql, interval(Bound::Open, Bound::Open), " WHERE t.\"k\" IS NOT NULL");
        check(&sql, interval(Bound::Open, below(-5)), " WHERE t.\"k\" < '-5'::pg_catalog.int4");
        let both = " WHERE t.\"k\" > '1'::pg_catalog.int4 AND t.\"k\" <= '2'::pg_catalog.int4";
        check(&sql, interval(below(1), at(2)), both);
        let sql = relation(KeyKind::Block, "t.ctid");
        let blocks = " WHERE t.ctid >= '(3,0)'::pg_catalog.tid AND t.ctid < '(9,0)'::pg_catalog.tid";
        check(&sql, interval(at(3), below(9)), blocks);
        check(&sql, interval(below(2), at(8)), blocks);
        check(&sql, interval(at(3), Bound::Open), " WHERE t.ctid >= '(3,0)'::pg_catalog.tid");
        assert_eq!(sql.copy(&Scope::WholeTable), format!("COPY ({select}) TO STDOUT (FORMAT binary)"));
    }
}
