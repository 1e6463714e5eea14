//! What the server's catalog says of the target, and the identity of its content.

use dpone_engine::run::Why;

use super::claim::has_books;
use super::ddl::Place;
use super::session::{Step, cell, is_true, rows};
use crate::postgres::{Session, quote_literal};

/// An existing relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) oid: u32,
    /// `pg_class.relkind`: `r` for a table.
    pub(super) kind: String,
    /// Whether a crash of the server empties it.
    pub(super) unlogged: bool,
    /// Whether rows are hidden from this user.
    pub(super) hides_rows: bool,
    /// Whether it inherits, or is inherited from; partitions included.
    pub(super) inherits: bool,
}

/// A column of an existing relation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Existing {
    pub(super) name: String,
    /// The name of its type, if that is one of the server's own scalars; empty otherwise.
    pub(super) ty: String,
    /// Its type's modifier; -1 if it has none.
    pub(super) modifier: i32,
    /// Its type as SQL has it.
    pub(super) declared: String,
    pub(super) not_null: bool,
    /// Whether its values are computed.
    pub(super) generated: bool,
    /// Whether the server insists on numbering it.
    pub(super) always_identity: bool,
    /// Whether texts that differ can be equal there.
    pub(super) loose: bool,
}

/// The relation of that name in the target's schema.
pub(super) fn relation(session: &mut Session, place: &Place, name: &str) -> Step<Option<Relation>> {
    let sql = format!(
        "SELECT c.oid, c.relkind, c.relpersistence = 'u', row_security_active(c.oid),
            EXISTS (SELECT 1 FROM pg_inherits AS i WHERE c.oid IN (i.inhrelid, i.inhparent))
         FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE n.nspname = {} AND c.relname = {}",
        quote_literal(&place.schema),
        quote_literal(name)
    );
    let Some(row) = rows(session, &sql)?.into_iter().next() else { return Ok(None) };
    let [Some(oid), Some(kind), Some(unlogged), Some(hides), Some(inherits)] = row.as_slice() else {
        return Err(strange());
    };
    Ok(Some(Relation {
        oid: oid.parse().map_err(|_| strange())?,
        kind: kind.clone(),
        unlogged: unlogged == "t",
        hides_rows: hides == "t",
        inherits: inherits == "t",
    }))
}

/// Its columns, in order.
pub(super) fn columns(session: &mut Session, oid: u32) -> Step<Vec<Existing>> {
    let sql = format!(
        "SELECT a.attname, CASE WHEN t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname END,
            a.atttypmod, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated <> '', a.attidentity = 'a',
            NOT coalesce(l.collisdeterministic, true)
         FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
         WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    );
    let column = |row: Vec<Option<String>>| {
        let [name, ty, modifier, declared, flags @ ..] = row.as_slice() else { return None };
        let is = |at: usize| flags.get(at).is_some_and(|flag| flag.as_deref() == Some("t"));
        Some(Existing {
            name: name.clone()?,
            ty: ty.clone().unwrap_or_default(),
            modifier: modifier.as_ref()?.parse().ok()?,
            declared: declared.clone()?,
            not_null: is(0),
            generated: is(1),
            always_identity: is(2),
            loose: is(3),
        })
    };
    rows(session, &sql)?.into_iter().map(|row| column(row).ok_or_else(strange)).collect()
}

/// What acts on its own when the table's rows change: triggers, rules, and foreign keys of other tables onto columns other than
/// `kept`, which a publication leaves as they are.
pub(super) fn followers(session: &mut Session, oid: u32, kept: &[String]) -> Step<Vec<String>> {
    let kept: Vec<String> = kept.iter().map(|k| quote_literal(k)).collect();
    let kept = if kept.is_empty() { "NULL".to_owned() } else { kept.join(", ") };
    let sql = format!(
        "SELECT 'trigger ' || quote_ident(tgname) FROM pg_trigger
            WHERE tgrelid = {oid} AND NOT tgisinternal AND tgenabled <> 'D'
         UNION ALL SELECT 'rule ' || quote_ident(rulename) FROM pg_rewrite
            WHERE ev_class = {oid} AND ev_type <> '1' AND ev_enabled <> 'D'
         UNION ALL SELECT 'foreign key of ' || f.conrelid::regclass::text FROM pg_constraint AS f
            WHERE f.confrelid = {oid} AND f.contype = 'f' AND EXISTS (SELECT 1 FROM pg_attribute AS a
                WHERE a.attrelid = {oid} AND a.attnum = ANY (f.confkey) AND (a.attname IN ({kept})) IS NOT TRUE)
         ORDER BY 1 LIMIT 20"
    );
    Ok(rows(session, &sql)?.into_iter().flatten().flatten().collect())
}

/// Whether a type has the target's name. Those that the server makes for arrays give way to others.
pub(super) fn is_type(session: &mut Session, place: &Place) -> Step<bool> {
    let (schema, name) = (quote_literal(&place.schema), quote_literal(&place.table));
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
         WHERE n.nspname = {schema} AND t.typname = {name} AND NOT EXISTS
            (SELECT 1 FROM pg_type AS e WHERE e.typarray = t.oid))"
    );
    is_true(session, &sql)
}

/// Whether the server refuses to change or delete rows, because subscribers could not be told which.
pub(super) fn lacks_replica_identity(session: &mut Session, oid: u32, updates: bool, deletes: bool) -> Step<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_publication AS p
            WHERE ((p.pubupdate AND {updates}) OR (p.pubdelete AND {deletes})) AND (p.puballtables OR EXISTS
                (SELECT 1 FROM pg_publication_tables AS m JOIN pg_class AS c ON c.relname = m.tablename
                 JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = m.schemaname
                 WHERE m.pubname = p.pubname AND c.oid = {oid})))
         AND EXISTS (SELECT 1 FROM pg_class AS c WHERE c.oid = {oid} AND c.relpersistence = 'p' AND c.relreplident <> 'f'
            AND NOT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = c.oid AND
                ((c.relreplident = 'd' AND i.indisprimary AND i.indimmediate)
                 OR (c.relreplident = 'i' AND i.indisreplident))))"
    );
    is_true(session, &sql)
}

/// Whether the server can tell by an index of its own that a key is there already. Texts must be equal byte by byte in it.
pub(super) fn has_key(session: &mut Session, oid: u32, key: &[String]) -> Step<bool> {
    let key: Vec<String> = key.iter().map(|k| quote_literal(k)).collect();
    let (key, count) = (key.join(", "), key.len());
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_index AS i WHERE i.indrelid = {oid} AND i.indisunique AND i.indisvalid
            AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = {count}
            AND {count} = (SELECT count(DISTINCT a.attname) FROM unnest(i.indkey) WITH ORDINALITY AS k(number, place)
                JOIN pg_attribute AS a ON a.attrelid = {oid} AND a.attnum = k.number
                WHERE k.place <= i.indnkeyatts AND a.attname IN ({key}))
            AND NOT EXISTS (SELECT 1 FROM unnest(i.indcollation) AS c(oid) JOIN pg_collation AS l ON l.oid = c.oid
                WHERE NOT l.collisdeterministic))"
    );
    Ok(cell(session, &sql)?.as_deref() == Some("t"))
}

/// The identity of the target's present content: its newest publication, and its definition. Empty if there is no target.
pub(super) fn base(session: &mut Session, place: &Place) -> Step<String> {
    let Some(found) = relation(session, place, &place.table)? else { return Ok(String::new()) };
    let definition = definition(session, found.oid)?;
    let newest = if has_books(session, place)? {
        let (ledger, target) = (place.ledger(), quote_literal(&place.table));
        let sql = format!(
            "SELECT publication FROM {ledger} WHERE target = {target} AND published ORDER BY number DESC LIMIT 1"
        );
        cell(session, &sql)?
    } else {
        None
    };
    Ok(format!("{}@{definition}", newest.unwrap_or_default()))
}

/// Everything that decides what a publication does there. A table that was made anew is another one.
fn definition(session: &mut Session, oid: u32) -> Step<String> {
    let sql = format!(
        "SELECT 'table', c.oid::text, c.relkind::text, c.relpersistence::text,
            concat(c.relrowsecurity, c.relforcerowsecurity)
            FROM pg_class AS c WHERE c.oid = {oid}
         UNION ALL SELECT concat('column ', a.attnum), a.attname, format_type(a.atttypid, a.atttypmod),
            concat(a.attnotnull, a.attgenerated, a.attidentity), a.attcollation::text
            FROM pg_attribute AS a WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
         UNION ALL SELECT concat('computed ', d.adnum), pg_get_expr(d.adbin, d.adrelid), NULL, NULL, NULL
            FROM pg_attrdef AS d WHERE d.adrelid = {oid}
         UNION ALL SELECT 'index', pg_get_indexdef(i.indexrelid), i.indisvalid::text, i.indimmediate::text, NULL
            FROM pg_index AS i WHERE i.indrelid = {oid}
         UNION ALL SELECT 'constraint', o.conname, o.conrelid::text, pg_get_constraintdef(o.oid), NULL
            FROM pg_constraint AS o WHERE {oid} IN (o.conrelid, o.confrelid)
         UNION ALL SELECT 'trigger', pg_get_triggerdef(t.oid), t.tgenabled::text, NULL, NULL
            FROM pg_trigger AS t WHERE t.tgrelid = {oid} AND NOT t.tgisinternal
         UNION ALL SELECT 'rule', pg_get_ruledef(r.oid), r.ev_enabled::text, NULL, NULL
            FROM pg_rewrite AS r WHERE r.ev_class = {oid}
         UNION ALL SELECT 'inherits', h.inhrelid::text, h.inhparent::text, NULL, NULL
            FROM pg_inherits AS h WHERE {oid} IN (h.inhrelid, h.inhparent)"
    );
    let mut parts = rows(session, &sql)?;
    parts.sort();
    let mut hash = blake3::Hasher::new();
    for cell in parts.into_iter().flatten() {
        match cell {
            Some(text) => hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes()),
            None => hash.update(&[0xff; 8]),
        };
    }
    Ok(hash.finalize().to_hex()[..16].to_owned())
}

fn strange() -> Why {
    Why::fatal(dpone_engine::codes::Code::TargetNotReachable, "the server's catalog is not understood")
}
