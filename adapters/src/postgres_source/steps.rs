//! A distribution as the server writes it.

use dpone_engine::ranges::Step;
use dpone_engine::value::Value;

use super::keys::value;
use super::resolve::Key;
use crate::postgres::PgError;

/// The steps of rows of a key and a number of rows, in the server's order. Equal neighbours become one.
pub(super) fn steps(key: &Key, rows: &[Vec<Option<String>>]) -> Result<Vec<Step>, PgError> {
    let strange = || PgError::protocol("the server's account of the keys is not understood");
    let mut steps: Vec<Step> = Vec::new();
    for row in rows {
        let (Some(Some(text)), Some(Some(count))) = (row.first(), row.get(1)) else { return Err(strange()) };
        let count = count.parse::<u64>().map_err(|_| strange())?;
        let found = match value(key, text) {
            Some(found) => found,
            // A text that cannot be stated places no cut; its rows count for the step before it.
            None if matches!(key.column.ty, dpone_engine::schema::LogicalType::Text) => {
                add(steps.last_mut(), count);
                continue;
            }
            None => return Err(strange()),
        };
        match steps.last_mut() {
            Some(last) if same(&last.key, &found) => add(Some(last), count),
            _ => steps.push(Step { key: found, rows: count }),
        }
    }
    Ok(steps)
}

fn add(step: Option<&mut Step>, rows: u64) {
    if let Some(step) = step {
        step.rows = step.rows.saturating_add(rows);
    }
}

/// Negative and positive zero are one key to the server.
fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.to_f64(), b.to_f64()), (Some(a), Some(b)) if a == b)
}
