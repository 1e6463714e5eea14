//! A table as of a moment.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use super::Ask;
use super::authority::missing;
use super::facts::{CatalogTable, sys};
use super::refused::refused;
use crate::odbc::OdbcError;

/// The moment as the server's clause takes it, in UTC as periods are kept.
///
/// # Errors
/// `manifest_invalid_value` for more digits than a period can hold.
pub(super) fn as_of(stated: &str) -> Result<String, Refusal> {
    let civil = stated.strip_suffix('Z').unwrap_or(stated);
    let (moment, fraction) = civil.split_once('.').unwrap_or((civil, ""));
    let kept = fraction.get(..7).unwrap_or(fraction);
    let plain = moment.len() == 19 && moment.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'T'));
    let beyond = fraction.get(kept.len()..).unwrap_or_default();
    if !plain || !kept.bytes().all(|b| b.is_ascii_digit()) || beyond.bytes().any(|b| b != b'0') {
        return Err(Refusal::new(Code::ManifestInvalidValue, "`as_of` is not a moment that SQL Server can tell apart")
            .at(format!("{}.as_of", super::authority::AT))
            .fix("Write it as `2026-01-31T12:00:00`, with up to seven fractional digits, in UTC."));
    }
    Ok(format!("{moment}.{kept:0<7}"))
}

/// Checks that the table keeps its history, that the moment has passed, and that its history is still there.
pub(super) fn confirm(ask: &mut impl Ask, table: &CatalogTable, moment: &str) -> Result<(), Refusal> {
    let failed = |e: OdbcError| refused(&e, "the table's history cannot be looked at", "source.table");
    let tables = sys(table.database.as_deref(), "tables");
    let at = format!("CONVERT(datetime2(7), '{moment}', 126)");
    let sql = format!(
        "SELECT t.temporal_type, CASE WHEN SYSUTCDATETIME() > {at} THEN 1 ELSE 0 END FROM {tables} AS t \
         WHERE t.object_id = {}",
        table.id
    );
    let rows = ask.ask(&sql).map_err(failed)?;
    let cell = |i: usize| rows.first().and_then(|row| row.get(i)?.as_deref());
    if cell(0) != Some("2") {
        let text = format!("\"{}\" is not a system-versioned table", table.name);
        return Err(missing("as_of", text, "Read a table with SYSTEM_VERSIONING = ON, or use another consistency."));
    }
    if cell(1) != Some("1") {
        let text = "`as_of` has not passed yet by the server's clock";
        return Err(missing("as_of", text.to_owned(), "State a moment in the past, in UTC."));
    }
    if ask.ask(&kept(&tables, table.id, &at)).map_or_else(no_such_column, |rows| is_one(&rows).then_some(())).is_none()
    {
        let text = "the table's history may no longer be kept as of that moment";
        return Err(missing("as_of", text.to_owned(), "State a later moment, or raise HISTORY_RETENTION_PERIOD."));
    }
    Ok(())
}

fn kept(tables: &str, id: i64, at: &str) -> String {
    let ago = |unit: &str| format!("DATEADD({unit}, -t.history_retention_period, SYSUTCDATETIME())");
    format!(
        "SELECT CASE WHEN t.history_retention_period IS NULL OR t.history_retention_period < 0 OR {at} > \
         CASE t.history_retention_period_unit WHEN 3 THEN {} WHEN 4 THEN {} WHEN 5 THEN {} ELSE {} END \
         THEN 1 ELSE 0 END FROM {tables} AS t WHERE t.object_id = {id}",
        ago("day"),
        ago("week"),
        ago("month"),
        ago("year")
    )
}

/// A server without such a column keeps history for ever.
fn no_such_column(error: OdbcError) -> Option<()> {
    (error.native == 207).then_some(())
}

/// Whether the answer is one row whose first column is 1.
pub(super) fn is_one(rows: &[super::Row]) -> bool {
    matches!(rows, [row] if row.first().and_then(|cell| cell.as_deref()).is_some_and(|cell| cell.trim() == "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_seven_digits() {
        let check = |stated: &str, expect: Option<&str>| assert_eq!(as_of(stated).ok().as_deref(), expect, "{stated}");
        check("2026-01-31T12:00:00", Some("2026-01-31T12:00:00.0000000"));
        check("2026-01-31T12:00:00Z", Some("2026-01-31T12:00:00.0000000"));
        check("2026-01-31T12:00:00.1234567Z", Some("2026-01-31T12:00:00.1234567"));
        check("2026-01-31T12:00:00.120000000", Some("2026-01-31T12:00:00.1200000"));
        check("2026-01-31T12:00:00.12345678", None);
        check("2026-01-31T12:00:00' --", None);
        check("2026-01-31", None);
    }

    #[test]
    fn only_one_row_with_one_is_a_proof() {
        let row = |cell: Option<&str>| vec![cell.map(str::to_owned)];
        assert!(is_one(&[row(Some("1"))]));
        for rows in [vec![], vec![row(None)], vec![row(Some("0"))], vec![row(Some("1")), row(Some("1"))], vec![vec![]]]
        {
            assert!(!is_one(&rows));
        }
    }
}
