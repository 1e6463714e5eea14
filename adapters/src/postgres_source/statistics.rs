//! The server's own statistics of the range column: no row is read.

use dpone_engine::ranges::Step;

use super::keys::{admitted, ordered, type_name, written};
use super::literal::text;
use super::resolve::{Key, Resolved};
use super::steps::steps;
use crate::postgres::{PgError, Session};

/// The distribution by histogram and most common values; `None` if there is none that can be trusted: of a query, a view or
/// a foreign table, of a table that was never analysed or of which more than a tenth has changed since.
pub(super) fn statistics(session: &mut Session, resolved: &Resolved, key: &Key) -> Result<Option<Vec<Step>>, PgError> {
    let Some(table) = resolved.table.as_ref().filter(|table| matches!(table.kind, 'r' | 'm' | 'p')) else {
        return Ok(None);
    };
    let sql = format!(
        "WITH RECURSIVE part(oid) AS (SELECT {}::pg_catalog.oid UNION SELECT i.inhrelid FROM part p \
         JOIN pg_catalog.pg_inherits i ON i.inhparent = p.oid) \
         SELECT pg_catalog.sum(pg_catalog.greatest(c.reltuples, 0))::pg_catalog.int8, \
         COALESCE(pg_catalog.sum(s.n_mod_since_analyze), 0)::pg_catalog.int8 \
         FROM part p JOIN pg_catalog.pg_class c ON c.oid = p.oid AND c.relkind IN ('r', 'm', 'f') \
         LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid",
        table.oid
    )
    .replace("pg_catalog.greatest", "GREATEST");
    let counted = session.query(&sql)?;
    let cell = |i: usize| counted.first().and_then(|row| row.get(i)?.as_deref()?.parse::<u64>().ok()).unwrap_or(0);
    let (rows, changed) = (cell(0), cell(1));
    if rows == 0 || changed > rows / 10 {
        return Ok(None);
    }
    let inherited = table.kind == 'p' || table.has_children;
    let (array, k) = (format!("pg_catalog.text::{}[]", type_name(key)), "p.k");
    let admitted = admitted(key, k).map(|c| format!(" WHERE {c}")).unwrap_or_default();
    // A bucket of the histogram counts for its lower bound. The histogram leaves out the most common values.
    let sql = format!(
        "WITH s AS (SELECT null_frac, histogram_bounds::{array} AS h, most_common_vals::{array} AS v, \
         most_common_freqs AS f FROM pg_catalog.pg_stats WHERE schemaname = {} AND tablename = {} AND attname = {} \
         AND inherited = {inherited}), \
         p(k, w) AS (SELECT u.k, CASE WHEN u.n < pg_catalog.cardinality(s.h) THEN (1 - s.null_frac - \
         COALESCE((SELECT pg_catalog.sum(x) FROM pg_catalog.unnest(s.f) AS x), 0)) / (pg_catalog.cardinality(s.h) - 1) \
         ELSE 0 END FROM s, pg_catalog.unnest(s.h) WITH ORDINALITY AS u(k, n) \
         UNION ALL SELECT u.k, u.f FROM s, ROWS FROM (pg_catalog.unnest(s.v), pg_catalog.unnest(s.f)) AS u(k, f)) \
         SELECT {}, pg_catalog.round(GREATEST(pg_catalog.sum(p.w), 0)::pg_catalog.numeric * {rows})::pg_catalog.int8 \
         FROM p{admitted} GROUP BY p.k ORDER BY {}",
        text(&table.schema),
        text(&table.name),
        text(&key.column.name),
        written(key, k),
        ordered(key, k),
    );
    let found = steps(key, &session.query(&sql)?)?;
    Ok((!found.is_empty()).then_some(found))
}
