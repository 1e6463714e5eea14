//! Keys that the server finds at even places in its own order.

use dpone_engine::ranges::Step;

use super::keys::{admitted, written};
use super::resolve::{Key, Resolved};
use super::steps::steps;
use crate::postgres::{PgError, Session};

/// Rows that a sample is to have; a table of fewer is read whole.
const SAMPLE: u64 = 200_000;
/// The least and the most places that are asked for.
const PLACES: (u32, u32) = (64, 10_000);

/// The distribution of keys that have no even steps. On a large table it is that of a sample of its blocks: cuts choose
/// where to divide, never which rows are read.
pub(super) fn quantiles(
    session: &mut Session,
    resolved: &Resolved,
    key: &Key,
    units: u32,
    rows: Option<u64>,
) -> Result<Vec<Step>, PgError> {
    let stored = resolved.table.as_ref().is_some_and(|table| matches!(table.kind, 'r' | 'm' | 'p'));
    if let Some(rows) = rows.filter(|rows| stored && *rows > 5 * SAMPLE) {
        let percent = SAMPLE as f64 * 100.0 / rows as f64;
        let from = format!("{} TABLESAMPLE SYSTEM ({percent:.6}) REPEATABLE (1)", resolved.sql.from);
        let found = places(session, &from, key, units, Some(rows))?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    places(session, &resolved.sql.from, key, units, rows)
}

fn places(session: &mut Session, from: &str, key: &Key, units: u32, rows: Option<u64>) -> Result<Vec<Step>, PgError> {
    // A multiple of the number of ranges, so that their own ends are among the places.
    let units = units.clamp(1, PLACES.1);
    let places = units * PLACES.0.div_ceil(units);
    let each = (rows.unwrap_or(0) / u64::from(places)).max(1);
    let column = &key.sql.expression;
    let condition = admitted(key, column).map(|c| format!(" WHERE {c}")).unwrap_or_default();
    let sql = format!(
        "SELECT {}, {each} FROM (SELECT pg_catalog.percentile_disc(\
         ARRAY(SELECT i::pg_catalog.float8 / {places} FROM pg_catalog.generate_series(0, {places} - 1) AS i)) \
         WITHIN GROUP (ORDER BY {column}) AS found FROM {from}{condition}) AS q, \
         pg_catalog.unnest(q.found) WITH ORDINALITY AS u(k, n) WHERE u.k IS NOT NULL ORDER BY u.n",
        written(key, "u.k")
    );
    steps(key, &session.query(&sql)?)
}
