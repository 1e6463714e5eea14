//! Keys that the server finds at even places in its own order.

use dpone_engine::plan::facts::RelationKind;
use dpone_engine::ranges::Step;

use super::Ask;
use super::catalog::strange;
use super::keys::written;
use super::steps::steps;
use crate::odbc::OdbcError;
use crate::odbc_source::{Key, KeySql, Resolved};

/// Rows that a sample is to have; a table of fewer is read whole.
const SAMPLE: u64 = 200_000;
/// The least and the most places that are asked for.
const PLACES: (u32, u32) = (64, 10_000);

/// The distribution of keys that have no even steps. On a large table it is that of a sample of its pages: cuts choose
/// where to divide, never which rows are read.
pub(super) fn quantiles(
    ask: &mut impl Ask,
    resolved: &Resolved,
    key: &Key,
    sql: &KeySql,
    units: u32,
) -> Result<Vec<Step>, OdbcError> {
    let from = &resolved.sql.from;
    // A point in time has rows in two tables, of which pages cannot be drawn alike.
    let sampled = resolved.kind == RelationKind::Table && from.ends_with("] AS t");
    if let Some(rows) = resolved.rows.filter(|rows| sampled && *rows > 5 * SAMPLE) {
        let percent = SAMPLE as f64 * 100.0 / rows as f64;
        let sample = format!("{from} TABLESAMPLE SYSTEM ({percent:.6} PERCENT) REPEATABLE (1)");
        let found = places(ask, resolved, &sample, key, sql, units, (SAMPLE, rows))?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let rows = match resolved.rows.filter(|rows| *rows > 0) {
        Some(rows) => rows,
        None => counted(ask, resolved)?,
    };
    places(ask, resolved, from, key, sql, units, (rows, rows))
}

fn counted(ask: &mut impl Ask, resolved: &Resolved) -> Result<u64, OdbcError> {
    let rows = ask.ask(&resolved.sql.count())?;
    rows.first().and_then(|row| row.first()?.as_deref()?.trim().parse().ok()).ok_or_else(strange)
}

/// Every so many rows of `of` one key, which stands for as many rows of `all`.
fn places(
    ask: &mut impl Ask,
    resolved: &Resolved,
    from: &str,
    key: &Key,
    sql: &KeySql,
    units: u32,
    (of, all): (u64, u64),
) -> Result<Vec<Step>, OdbcError> {
    // A multiple of the number of ranges, so that their own ends are among the places.
    let units = units.clamp(1, PLACES.1);
    let places = u64::from(units * PLACES.0.div_ceil(units));
    let (every, each) = ((of / places).max(1), (all / places).max(1));
    let column = &sql.expression;
    // TOP bounds the answer where the count is out of date.
    let asked = format!(
        "{}SELECT TOP ({}) {}, {each} FROM (SELECT {column} AS k, ROW_NUMBER() OVER (ORDER BY {column}) AS r \
         FROM {from} WHERE {column} IS NOT NULL) AS q WHERE (q.r - 1) % {every} = 0 ORDER BY q.r",
        resolved.sql.prefix,
        20 * places,
        written(key, "q.k"),
    );
    steps(key, &ask.ask(&asked)?)
}
