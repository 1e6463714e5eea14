//! Gates on what staging holds, by the server itself.

use dpone_engine::codes::Code;
use dpone_engine::manifest::{Fidelity, Quality};
use dpone_engine::ports::Staged;
use dpone_engine::run::effect::GateResult;
use dpone_engine::run::{Receipt, Why};
use dpone_engine::schema::Schema;

use super::ddl::{Place, columns, names};
use super::profile::profiles;
use super::session::{Step, connect, is_true, rows, run};
use crate::postgres::{Config, Session, quote_ident};

/// Everything the check is told.
pub(super) struct Checks<'a> {
    pub(super) place: &'a Place,
    pub(super) schema: &'a Schema,
    pub(super) quality: &'a Quality,
    /// The merge key; empty for other strategies.
    pub(super) merge_key: &'a [String],
    pub(super) staged: &'a Staged,
    /// Bytes that the check may take.
    pub(super) grant: u64,
}

/// Runs every gate and profiles every unit, in one state of the database.
pub(super) fn check(config: &Config, checks: &Checks<'_>) -> Step<Receipt> {
    let mut session = connect(config)?;
    run(&mut session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    let units = match checks.quality.fidelity {
        Fidelity::Off => Vec::new(),
        _ => profiles(&mut session, checks)?,
    };
    Ok(Receipt::Checked { gates: gates(&mut session, checks)?, units })
}

fn gates(session: &mut Session, checks: &Checks<'_>) -> Step<Vec<GateResult>> {
    let mut results = Vec::new();
    let mut gate = |gate: String, failed: Option<Why>| results.push(GateResult { gate, failed });
    let everything = union(checks);
    let absent: Vec<String> = checks.merge_key.iter().map(|k| format!("{} IS NULL", quote_ident(k))).collect();
    let conditions = checks.quality.not_null.iter().map(|c| format!("{} IS NULL", quote_ident(c)));
    let conditions = conditions.chain((!absent.is_empty()).then(|| absent.join(" OR ")));
    let filters: String = conditions.map(|c| format!(", count(*) FILTER (WHERE {c})")).collect();
    let counts = self::rows(session, &format!("SELECT count(*){filters} FROM ({everything}) AS s"))?;
    let counts: Option<Vec<u64>> =
        counts.first().and_then(|row| row.iter().map(|cell| cell.as_deref()?.parse().ok()).collect());
    let mut counts = counts.unwrap_or_default().into_iter();
    let mut count = || counts.next().ok_or_else(|| Why::fatal(Code::LoadFailed, "staging could not be counted"));
    let rows = count()?;
    let promised: u64 = checks.staged.units.iter().map(|u| u.rows).sum();
    let detail = format!("{promised} rows were confirmed and staging holds {rows}");
    gate("staged_rows".to_owned(), (rows != promised).then(|| Why::fatal(Code::LoadCountMismatch, detail)));
    let least = checks.quality.min_rows;
    let detail = format!("{rows} rows, and at least {least} are demanded");
    gate("min_rows".to_owned(), (rows < least).then(|| Why::fatal(Code::QualityMinRows, detail)));
    for name in &checks.quality.not_null {
        let nulls = count()?;
        let detail = format!("column {name:?} holds {nulls} NULLs");
        gate(format!("not_null({name})"), (nulls > 0).then(|| Why::fatal(Code::QualityNotNull, detail)));
    }
    for name in &checks.quality.unique {
        let twice = holds_twice(session, &everything, std::slice::from_ref(name))?;
        let detail = format!("column {name:?} holds a value more than once");
        gate(format!("unique({name})"), twice.then(|| Why::fatal(Code::QualityUnique, detail)));
    }
    if !checks.merge_key.is_empty() {
        let (key, nulls) = (checks.merge_key.join(", "), count()?);
        let twice = holds_twice(session, &everything, checks.merge_key)?;
        let more = if twice { "a value more than once" } else { "no value more than once" };
        let detail = format!("key ({key}) holds {more} and {nulls} rows with NULL");
        let failed = twice || nulls > 0;
        gate(format!("merge_key({key})"), failed.then(|| Why::fatal(Code::MergeKeyNotUnique, detail)));
    }
    Ok(results)
}

/// Whether any key occurs twice; one with a NULL in it equals nothing. Staging's texts are equal byte by byte.
fn holds_twice(session: &mut Session, everything: &str, key: &[String]) -> Step<bool> {
    let present: Vec<String> = key.iter().map(|k| format!("{} IS NOT NULL", quote_ident(k))).collect();
    let (columns, present) = (names(key.iter()), present.join(" AND "));
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM ({everything}) AS s WHERE {present} GROUP BY {columns} HAVING count(*) > 1)"
    );
    is_true(session, &sql)
}

fn union(checks: &Checks<'_>) -> String {
    let columns = columns(checks.schema);
    let parts: Vec<String> = checks
        .staged
        .staging
        .iter()
        .map(|staging| format!("SELECT {columns} FROM {}", checks.place.beside(staging)))
        .collect();
    parts.join(" UNION ALL ")
}
