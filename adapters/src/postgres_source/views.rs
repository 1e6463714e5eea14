//! The texts of the views that are read.

use super::facts::CatalogTable;
use crate::postgres::{PgError, Session};

/// Texts that are looked at.
const MOST: usize = 1000;

/// The definitions of the view, or of every view whose name occurs in the query, and of all views below. A name that
/// occurs as something else only adds a text. Where the server's plan has a `window` and no text is there to show it, an
/// empty one stands for it.
pub(super) fn views_below(
    session: &mut Session,
    view: Option<&CatalogTable>,
    query: &str,
    window: bool,
) -> Result<Vec<String>, PgError> {
    let oids: Vec<String> = match view {
        Some(view) => vec![view.oid.to_string()],
        None => {
            let sql = "SELECT c.oid, pg_catalog.lower(c.relname) FROM pg_catalog.pg_class c \
                       JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v' \
                       AND n.nspname NOT IN ('pg_catalog', 'information_schema')";
            let folded = query.to_lowercase();
            let named = |row: Vec<Option<String>>| {
                let mut cells = row.into_iter();
                let (oid, name) = (cells.next()??, cells.next()??);
                folded.contains(&name).then_some(oid)
            };
            session.query(sql)?.into_iter().filter_map(named).collect()
        }
    };
    let mut texts = Vec::new();
    if !oids.is_empty() {
        let sql = format!(
            "WITH RECURSIVE v(oid) AS (SELECT x::pg_catalog.oid FROM pg_catalog.unnest(ARRAY[{}]) AS x UNION \
             SELECT d.refobjid FROM v JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid \
             JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid \
             AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass \
             JOIN pg_catalog.pg_class c ON c.oid = d.refobjid WHERE c.relkind = 'v') \
             SELECT pg_catalog.pg_get_viewdef(oid) FROM v LIMIT {}",
            oids.join(", "),
            MOST + 1
        );
        // A view that was dropped meanwhile has no text.
        let cell = |row: Vec<Option<String>>| row.into_iter().next().flatten().unwrap_or_default();
        texts = session.query(&sql)?.into_iter().map(cell).collect();
    }
    if texts.len() > MOST || (window && texts.is_empty()) {
        texts = vec![String::new()];
    }
    Ok(texts)
}
