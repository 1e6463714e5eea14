//! The server's own statistics of the range column: no row is read.

use dpone_engine::ranges::Step;

use super::catalog::strange;
use super::facts::sys;
use super::keys::{base, written};
use super::quote::text;
use super::relation::{database_of, name_of};
use super::steps::steps;
use super::{Ask, Row};
use crate::odbc::OdbcError;
use crate::odbc_source::{Key, Resolved};

/// The distribution by histogram; `None` if there is none that can be trusted: of a column that leads no statistics, of
/// statistics of some rows only, or of a table of which more than a tenth has changed since. What the user may not see, or
/// an older server does not have, is not there either.
pub(super) fn statistics(ask: &mut impl Ask, resolved: &Resolved, key: &Key) -> Result<Option<Vec<Step>>, OdbcError> {
    match found(ask, resolved, key) {
        Err(error) if !error.is_connection_lost() => Ok(None),
        found => found,
    }
}

fn found(ask: &mut impl Ask, resolved: &Resolved, key: &Key) -> Result<Option<Vec<Step>>, OdbcError> {
    let name = name_of(&resolved.sql.from);
    let database = database_of(name);
    let sys = |view: &str| sys(database.as_deref(), view);
    let sql = format!(
        "SELECT s.object_id, s.stats_id, p.rows, p.modification_counter FROM {} AS s \
         JOIN {} AS k ON k.object_id = s.object_id AND k.stats_id = s.stats_id AND k.stats_column_id = 1 \
         JOIN {} AS c ON c.object_id = k.object_id AND c.column_id = k.column_id \
         CROSS APPLY {}(s.object_id, s.stats_id) AS p \
         WHERE s.object_id = OBJECT_ID({}) AND c.name = {} AND s.has_filter = 0 ORDER BY p.last_updated DESC",
        sys("stats"),
        sys("stats_columns"),
        sys("columns"),
        sys("dm_db_stats_properties"),
        text(name),
        text(&key.column.name),
    );
    let rows = ask.ask(&sql)?;
    let Some((object, id)) = rows.first().and_then(trusted) else { return Ok(None) };
    let held = format!("CAST(h.range_high_key AS {})", held_type(key));
    let sql = format!(
        "SELECT {}, CAST(h.equal_rows AS bigint), CAST(h.range_rows AS bigint) FROM {}({object}, {id}) AS h \
         WHERE h.range_high_key IS NOT NULL ORDER BY h.step_number",
        written(key, &held),
        sys("dm_db_stats_histogram"),
    );
    let found = steps(key, &shifted(&ask.ask(&sql)?).ok_or_else(strange)?)?;
    Ok((!found.is_empty()).then_some(found))
}

/// The type of a histogram's keys, which are kept in a variant. A text there is cut after some bytes, which still sorts
/// where it should.
fn held_type(key: &Key) -> &str {
    match base(key) {
        "char" | "varchar" | "nchar" | "nvarchar" => "nvarchar(4000)",
        "timestamp" | "rowversion" => "binary(8)",
        _ => &key.declared,
    }
}

/// Object and statistics, if they were made of a table of which nine tenths are unchanged.
fn trusted(row: &Row) -> Option<(i64, i64)> {
    let number = |i: usize| row.get(i)?.as_deref()?.trim().parse::<i64>().ok();
    let (object, id, rows) = (number(0)?, number(1)?, number(2)?);
    let changed = number(3).unwrap_or(0);
    (rows > 0 && changed <= rows / 10).then_some((object, id))
}

/// A histogram counts the rows below each key; a step has the rows from its key on.
fn shifted(rows: &[Row]) -> Option<Vec<Row>> {
    let number = |row: &Row, i: usize| row.get(i)?.as_deref()?.trim().parse::<u64>().ok();
    let below_next = rows.iter().skip(1).map(|row| number(row, 2)).chain([Some(0)]);
    rows.iter()
        .zip(below_next)
        .map(|(row, below)| Some(vec![row.first()?.clone(), Some((number(row, 1)? + below?).to_string())]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Row {
        cells.iter().map(|cell| Some((*cell).to_owned())).collect()
    }

    #[test]
    fn a_step_has_its_own_rows_and_those_up_to_the_next_key() {
        let rows = [row(&["1", "5", "0"]), row(&["9", "1", "70"]), row(&["20", "2", "30"])];
        let expect = [row(&["1", "75"]), row(&["9", "31"]), row(&["20", "2"])];
        assert_eq!(shifted(&rows).as_deref(), Some(&expect[..]));
        assert_eq!(shifted(&[row(&["1", "x", "0"])]), None);
        assert_eq!(shifted(&[]), Some(Vec::new()));
    }

    #[test]
    fn statistics_of_another_table_than_it_is_now_are_not_trusted() {
        assert_eq!(trusted(&row(&["7", "2", "1000", "100"])), Some((7, 2)));
        assert_eq!(trusted(&row(&["7", "2", "1000", "101"])), None);
        assert_eq!(trusted(&row(&["7", "2", "0", "0"])), None);
    }
}
