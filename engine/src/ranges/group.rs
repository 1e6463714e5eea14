//! Group integrity: no boundary may split rows that a query or its reader treats as one group.

use super::plan::PLACE;
use super::window::{SqlDialect, sql_uses_window};
use crate::codes::Code;
use crate::refusal::Refusal;

/// Checks that rows that are equal in `group_key` always fall into one range.
///
/// They do if the range column is one of the key's columns: equal keys then have equal range values. An empty key
/// declares no groups.
///
/// # Errors
/// `group_integrity_unproven`.
pub fn check_group_key(range_column: &str, group_key: &[String]) -> Result<(), Refusal> {
    if group_key.is_empty() || group_key.iter().any(|column| column == range_column) {
        return Ok(());
    }
    let text = format!("\"{range_column}\" is not a column of the group key, so a boundary could split a group");
    Err(Refusal::new(Code::GroupIntegrityUnproven, text)
        .at(format!("{PLACE}.range_parallelism.group_key"))
        .fix("Split by a column of the group key."))
}

/// Checks that a source query, or a view's text, may be read in `units` ranges with that group key.
///
/// # Errors
/// `window_function_unproven` if it has, or may have, a window function and no group key is declared.
pub fn check_query_groups(sql: &str, dialect: SqlDialect, group_key: &[String], units: u32) -> Result<(), Refusal> {
    if units <= 1 || !group_key.is_empty() || !sql_uses_window(sql, dialect) {
        return Ok(());
    }
    let text = "the query has a window function, or cannot be parsed to show that it has none";
    Err(Refusal::new(Code::WindowFunctionUnproven, text)
        .at("source.query")
        .fix(format!("Declare {PLACE}.range_parallelism.group_key, or read it as one range (mode: off).")))
}
