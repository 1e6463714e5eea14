//! What the server's planner says of a statement that is not run.

use serde_json::Value;

use crate::postgres::{PgError, Session};

/// What is known of a statement's plan. What cannot be read of it is taken for the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Explained {
    /// Rows, by estimate.
    pub(super) rows: Option<u64>,
    /// Whether it reads from another server, whose state no snapshot of this one covers.
    pub(super) foreign: bool,
    /// Whether it computes a window function.
    pub(super) window: bool,
    /// Whether both ends of an interval are sought in an index.
    pub(super) sought: bool,
}

/// Asks for the plan of a statement. The rights to run it are checked too.
pub(super) fn explain(session: &mut Session, sql: &str) -> Result<Explained, PgError> {
    let rows = session.query(&format!("EXPLAIN (FORMAT JSON) {sql}"))?;
    let text: String = rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    Ok(read(&text))
}

fn read(text: &str) -> Explained {
    let unknown = Explained { rows: None, foreign: true, window: true, sought: false };
    let Ok(document) = serde_json::from_str::<Value>(text) else { return unknown };
    let plan = &document[0]["Plan"];
    if !plan.is_object() {
        return unknown;
    }
    let mut found = Explained { rows: plan["Plan Rows"].as_u64(), foreign: false, window: false, sought: false };
    let mut left = vec![plan];
    while let Some(node) = left.pop() {
        let kind = node["Node Type"].as_str().unwrap_or_default();
        found.foreign |= kind == "Foreign Scan" || kind == "Custom Scan";
        found.window |= kind == "WindowAgg";
        let condition = node["Index Cond"].as_str().unwrap_or_default();
        found.sought |= condition.contains(">=") && condition.contains(" < ");
        left.extend(node["Plans"].as_array().into_iter().flatten());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_searched_in_full() {
        let check = |text: &str, rows, foreign, window, sought| {
            assert_eq!(read(text), Explained { rows, foreign, window, sought }, "{text}");
        };
        check(r#"[{"Plan": {"Node Type": "Seq Scan", "Plan Rows": 7}}]"#, Some(7), false, false, false);
        let nested = r#"[{"Plan": {"Node Type": "Append", "Plan Rows": 9, "Plans": [
            {"Node Type": "WindowAgg", "Plans": [{"Node Type": "Foreign Scan"}]},
            {"Node Type": "Index Scan", "Index Cond": "((k >= 0) AND (k < 1))"}]}}]"#;
        check(nested, Some(9), true, true, true);
        let half = r#"[{"Plan": {"Node Type": "Index Scan", "Plan Rows": 1, "Index Cond": "(k >= 0)"}}]"#;
        check(half, Some(1), false, false, false);
        check("", None, true, true, false);
        check("[]", None, true, true, false);
    }
}
