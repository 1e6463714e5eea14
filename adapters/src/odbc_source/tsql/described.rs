//! The columns of a query, as the server or its driver describes them.

use dpone_engine::plan::facts::RelationKind;
use dpone_engine::refusal::Refusal;
use odbc_api::DataType;
use odbc_api::sys::SqlDataType;

use super::catalog::{is_true, strange};
use super::facts::{Catalog, CatalogColumn, CatalogType, Sought};
use super::query::split;
use super::quote::{ident, text};
use super::refused::refused;
use super::views::views_below;
use super::{Ask, Row};
use crate::odbc::{Described, OdbcError};

const QUERY: &str = "source.query";

/// A column before it has a name of its own.
struct Bare {
    name: String,
    ty: CatalogType,
}

/// Looks at what a query returns.
pub(super) fn look_up(ask: &mut impl Ask, query: &str) -> Result<Catalog, Refusal> {
    let failed = |e: OdbcError| refused(&e, "the query cannot be prepared", QUERY);
    let parts = split(query)?;
    let (prefix, body) = (parts.prefix, parts.body);
    let columns = match from_server(ask, &format!("{prefix}{body}")).map_err(failed)? {
        Some(columns) => columns,
        // On a line of its own because the query may end in a comment.
        None => from_driver(ask, &format!("{prefix}SELECT TOP (0) * FROM (\n{body}\n) AS t")).map_err(failed)?,
    };
    // Own names for the columns: two of the same name could not be told apart otherwise.
    let names: Vec<String> = (0..columns.len()).map(|i| ident(&format!("c{i}"))).collect();
    let from = format!("(\n{body}\n) AS t({})", names.join(", "));
    let columns = columns.into_iter().zip(&names).map(|(column, name)| CatalogColumn {
        name: column.name,
        ty: column.ty,
        not_null: false,
        hidden: false,
        masked: false,
        encrypted: false,
        expression: format!("t.{name}"),
        sought: Sought::Nowhere,
    });
    let columns = columns.collect();
    let views = views_below(ask, None, query).map_err(failed)?;
    let prefix = prefix.to_owned();
    let warnings =
        vec!["memory that the server takes inside the query (sorting, grouping) is not part of the budget".to_owned()];
    Ok(Catalog { kind: RelationKind::Query, columns, prefix, from, rows: None, views, warnings })
}

/// What the server says without running it; `None` if it cannot say such things.
fn from_server(ask: &mut impl Ask, sql: &str) -> Result<Option<Vec<Bare>>, OdbcError> {
    let asked = format!(
        "SELECT name, system_type_name, user_type_name, max_length, precision, scale, collation_name, is_hidden, \
         error_number, error_message FROM sys.dm_exec_describe_first_result_set({}, NULL, 0) ORDER BY column_ordinal",
        text(sql)
    );
    let rows = match ask.ask(&asked) {
        Ok(rows) => rows,
        Err(error) if error.is_connection_lost() => return Err(error),
        Err(_) => return Ok(None),
    };
    if let Some(error) = rows.iter().find_map(failure) {
        return Err(error);
    }
    let columns: Option<Vec<Bare>> = rows.iter().filter(|row| !is_true(cell(row, 7))).map(bare).collect();
    columns.filter(|columns| !columns.is_empty()).map(Some).ok_or_else(strange)
}

fn cell(row: &Row, i: usize) -> Option<&str> {
    row.get(i)?.as_deref()
}

fn failure(row: &Row) -> Option<OdbcError> {
    let number = cell(row, 8)?.parse().ok().filter(|number| *number != 0)?;
    Some(OdbcError::told(number, cell(row, 9).unwrap_or_default()))
}

fn bare(row: &Row) -> Option<Bare> {
    let declared = cell(row, 1).or_else(|| cell(row, 2))?;
    let base = declared.split('(').next().unwrap_or(declared);
    let ty = CatalogType::new(
        base,
        cell(row, 2).unwrap_or_default(),
        cell(row, 3)?.parse().ok()?,
        cell(row, 4)?.parse().ok()?,
        cell(row, 5)?.parse().ok()?,
        cell(row, 6).map(str::to_owned),
    );
    Some(Bare { name: cell(row, 0).unwrap_or_default().to_owned(), ty })
}

/// What the driver makes of it: types that share a form on the wire cannot be told apart.
fn from_driver(ask: &mut impl Ask, sql: &str) -> Result<Vec<Bare>, OdbcError> {
    let described = ask.describe(sql)?;
    Ok(described.into_iter().map(|column| Bare { ty: described_type(&column), name: column.name }).collect())
}

fn described_type(column: &Described) -> CatalogType {
    let length = |length: Option<std::num::NonZeroUsize>, bytes: usize, most: usize| {
        // Longer than a type with a length can be is one without.
        let bytes = length.map(|n| n.get().saturating_mul(bytes)).filter(|n| *n <= most);
        bytes.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1)
    };
    let scaled = |scale: i16| u8::try_from(scale).unwrap_or(u8::MAX);
    let small = |precision: usize| u8::try_from(precision).unwrap_or(u8::MAX);
    let other = |code: i16| match code {
        -11 => Some("uniqueidentifier"),
        -150 => Some("sql_variant"),
        -152 => Some("xml"),
        -154 => Some("time"),
        -155 => Some("datetimeoffset"),
        _ => None,
    };
    let (base, bytes, precision, scale) = match column.data_type {
        DataType::Bit => ("bit", 1, 1, 0),
        DataType::TinyInt => ("tinyint", 1, 3, 0),
        DataType::SmallInt => ("smallint", 2, 5, 0),
        DataType::Integer => ("int", 4, 10, 0),
        DataType::BigInt => ("bigint", 8, 19, 0),
        DataType::Real => ("real", 4, 24, 0),
        DataType::Float { precision } if precision <= 24 => ("real", 4, 24, 0),
        DataType::Float { .. } | DataType::Double => ("float", 8, 53, 0),
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => {
            ("decimal", 17, small(precision), scaled(scale))
        }
        DataType::Char { length: n } => ("char", length(n, 1, 8000), 0, 0),
        DataType::Varchar { length: n } => ("varchar", length(n, 1, 8000), 0, 0),
        DataType::LongVarchar { .. } => ("varchar", -1, 0, 0),
        DataType::WChar { length: n } => ("nchar", length(n, 2, 8000), 0, 0),
        DataType::WVarchar { length: n } => ("nvarchar", length(n, 2, 8000), 0, 0),
        DataType::WLongVarchar { .. } => ("nvarchar", -1, 0, 0),
        DataType::Binary { length: n } => ("binary", length(n, 1, 8000), 0, 0),
        DataType::Varbinary { length: n } => ("varbinary", length(n, 1, 8000), 0, 0),
        DataType::LongVarbinary { .. } => ("varbinary", -1, 0, 0),
        DataType::Date => ("date", 3, 10, 0),
        DataType::Time { precision } => ("time", 5, 16, scaled(precision)),
        DataType::Timestamp { precision } => ("datetime2", 8, 27, scaled(precision)),
        DataType::Other { data_type: SqlDataType(code), decimal_digits, .. } => {
            (other(code).unwrap_or("unknown"), -1, 0, scaled(decimal_digits))
        }
        DataType::Unknown => ("unknown", -1, 0, 0),
    };
    CatalogType::new(base, "", bytes, precision, scale, None)
}
