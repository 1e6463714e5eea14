//! Whether dpone's books in the target's schema are whole, its own, and open to this user.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use super::ddl::Place;
use super::session::{Step, rows};
use crate::postgres::{Session, quote_literal};

/// Each table with the columns it must have, and what is done with it.
const BOOKS: [(&str, &str, &str); 3] = [
    ("__dpone_claim", "target,journal,run,epoch,held", "SELECT,INSERT,UPDATE"),
    ("__dpone_load", "load,staging,rows", "SELECT,INSERT,DELETE"),
    ("__dpone_ledger", "number,publication,target,journal,run,identity,rows,published", "SELECT,INSERT,UPDATE"),
];

/// Why the books cannot be used; nothing if they can, or if there are none yet.
pub(super) fn refused(session: &mut Session, place: &Place) -> Step<Option<Refusal>> {
    let books: Vec<String> = BOOKS
        .iter()
        .map(|(name, columns, privileges)| {
            let [name, columns, privileges] = [name, columns, privileges].map(|text| quote_literal(text));
            format!("({name}, {columns}, {privileges})")
        })
        .collect();
    let sql = format!(
        "SELECT b.name, c.relkind = 'r' AND NOT EXISTS
            (SELECT 1 FROM unnest(string_to_array(b.columns, ',')) AS k(name) WHERE NOT EXISTS
                (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = k.name AND NOT a.attisdropped)),
            (SELECT bool_and(has_table_privilege(c.oid, p.name)) FROM unnest(string_to_array(b.privileges, ',')) AS p(name))
         FROM (VALUES {}) AS b(name, columns, privileges)
         JOIN pg_namespace AS n ON n.nspname = {} JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = b.name",
        books.join(", "),
        quote_literal(&place.schema)
    );
    let found = rows(session, &sql)?;
    let is = |row: &[Option<String>], at: usize| row.get(at).and_then(|cell| cell.as_deref()) == Some("t");
    if found.is_empty() || (found.len() == BOOKS.len() && found.iter().all(|row| is(row, 1) && is(row, 2))) {
        return Ok(None);
    }
    let names: Vec<&str> = BOOKS.iter().map(|(name, ..)| *name).collect();
    let (names, schema) = (names.join(", "), &place.schema);
    let (text, fix) = if found.len() == BOOKS.len() && found.iter().all(|row| is(row, 1)) {
        let text = format!("the user may not use all of dpone's books in schema {schema:?}");
        (text, format!("Grant SELECT, INSERT, UPDATE and DELETE on {names} to the user."))
    } else {
        let text =
            format!("of dpone's books in schema {schema:?} some are missing, or tables of their names are no books");
        (
            text,
            format!(
                "Bring {names} back, or, if no run is under way in that schema, drop or rename what is left of them."
            ),
        )
    };
    Ok(Some(Refusal::new(Code::TargetNotReachable, text).at("sink.table.schema").fix(fix)))
}
