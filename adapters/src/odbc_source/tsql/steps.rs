//! A distribution as the server writes it.

use dpone_engine::ranges::Step;
use dpone_engine::schema::LogicalType;

use super::Row;
use super::catalog::strange;
use super::keys::value;
use crate::odbc::OdbcError;
use crate::odbc_source::Key;

/// The steps of rows of a key and a number of rows, in the server's order. Equal neighbours become one.
pub(super) fn steps(key: &Key, rows: &[Row]) -> Result<Vec<Step>, OdbcError> {
    let mut steps: Vec<Step> = Vec::new();
    for row in rows {
        let (Some(Some(text)), Some(Some(count))) = (row.first(), row.get(1)) else { return Err(strange()) };
        let count = count.trim().parse::<u64>().map_err(|_| strange())?;
        let found = match value(key, text) {
            Some(found) => found,
            // A text that cannot be stated places no cut; its rows count for the step before it.
            None if key.column.ty == LogicalType::Text => {
                add(steps.last_mut(), count);
                continue;
            }
            None => return Err(strange()),
        };
        match steps.last_mut() {
            // Negative and positive zero are one key to the server.
            Some(last) if last.key == found || (is_zero(&last.key) && is_zero(&found)) => add(Some(last), count),
            _ => steps.push(Step { key: found, rows: count }),
        }
    }
    Ok(steps)
}

fn is_zero(key: &dpone_engine::value::Value) -> bool {
    key.to_f64() == Some(0.0)
}

fn add(step: Option<&mut Step>, rows: u64) {
    if let Some(step) = step {
        step.rows = step.rows.saturating_add(rows);
    }
}
