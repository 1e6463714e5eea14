//! Does a query use a window function?

use serde::{Deserialize, Serialize};
use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

/// The SQL that a source speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlDialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// SQL Server.
    Mssql,
    /// Any other, through ODBC.
    Generic,
}

/// The parser's trees nest as deep as an operator chain is long; a longer text is not looked at.
const MAX_TOKENS: usize = 20_000;

/// Whether the query has, or may have, a window function.
///
/// False only if the text parses as one query, or as one view's definition, in the dialect and no unquoted `OVER` stands outside literals and
/// comments. Whatever cannot be parsed counts as a window.
pub fn sql_uses_window(sql: &str, dialect: SqlDialect) -> bool {
    // Where a literal ends at a backslash depends on a server setting, and MariaDB runs `/*M! … */`.
    let ambiguous = sql.contains('\\') || (dialect == SqlDialect::Mysql && sql.contains("/*M!"));
    if ambiguous && sql.to_ascii_lowercase().contains("over") {
        return true;
    }
    match dialect {
        SqlDialect::Sqlite => uses_window(sql, &SQLiteDialect {}),
        SqlDialect::Postgres => uses_window(sql, &PostgreSqlDialect {}),
        SqlDialect::Mysql => uses_window(sql, &MySqlDialect {}),
        SqlDialect::Mssql => uses_window(sql, &MsSqlDialect {}),
        SqlDialect::Generic => uses_window(sql, &GenericDialect {}),
    }
}

fn uses_window(sql: &str, dialect: &dyn Dialect) -> bool {
    let Ok(tokens) = Tokenizer::new(dialect, sql).tokenize() else {
        return true;
    };
    let over = |token: &Token| matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("over"));
    if tokens.len() > MAX_TOKENS || tokens.iter().any(over) {
        return true;
    }
    let parsed = Parser::new(dialect).with_tokens(tokens).parse_statements();
    !matches!(parsed.as_deref(), Ok([Statement::Query(_) | Statement::CreateView { .. }]))
}
