use super::super::{SqlDialect, check_query_groups, sql_uses_window};
use crate::codes::Code;

const ALL: [SqlDialect; 5] =
    [SqlDialect::Sqlite, SqlDialect::Postgres, SqlDialect::Mysql, SqlDialect::Mssql, SqlDialect::Generic];

#[track_caller]
fn check(dialects: &[SqlDialect], sql: &str, expect: bool) {
    for dialect in dialects {
        assert_eq!(sql_uses_window(sql, *dialect), expect, "{dialect:?}: {sql}");
    }
}

#[test]
fn window_functions_are_found_wherever_they_stand() {
    check(&ALL, "select id, row_number() over (order by id) as n from t", true);
    check(&ALL, "select id, sum(x) OVER w from t window w as (partition by id)", true);
    check(&ALL, "with a as (select rank() over(order by x) r from t) select * from a where r = 1", true);
    check(&ALL, "select * from t where id in (select lag(id)/**/over/**/(order by id) from t)", true);
}

#[test]
fn literals_comments_and_quoted_names_are_no_windows() {
    check(&ALL, "select id from t", false);
    check(&ALL, "select 'x over (y)' as s, moreover from t -- over (\n/* over ( */", false);
    check(&ALL, "select \"over\" from t", false);
    check(&[SqlDialect::Mysql], "select `over` from t # over (", false);
    check(&[SqlDialect::Mssql], "select [over] from t", false);
    check(&[SqlDialect::Postgres], "select $q$ over ( $q$ from t /* /* */ over ( */", false);
}

#[test]
fn what_cannot_be_parsed_counts_as_a_window() {
    for sql in ["", "select from where", "select 'open", "select 1; select 2", "delete from t", "select (((", "\u{0}"] {
        check(&ALL, sql, true);
    }
    check(&[SqlDialect::Sqlite], "select 1 /* /* */ , sum(x) over () from t -- */", true);
    check(&[SqlDialect::Mysql], "select sum(x) /*!50000 over () */ from t", true);
    check(&[SqlDialect::Mysql], "select sum(x) /*M! over () */ from t", true);
    check(&[SqlDialect::Mysql], r"select '\' , sum(x) over () , ' from t", true);
    check(&[SqlDialect::Postgres], r"select '\' , sum(x) over () , ' from t", true);
}

#[test]
fn a_very_long_text_is_neither_trusted_nor_fatal() {
    let chain = |terms: usize| format!("select {} from t", vec!["1"; terms].join("+"));
    check(&ALL, &chain(9_000), false);
    for (first, more) in
        [("1", "!"), ("1", "::int"), ("a", " is null"), ("1", " union select 1"), ("a", "[1]"), ("a", ".b")]
    {
        for (dialect, times) in ALL.into_iter().flat_map(|d| [(d, 2_500), (d, 4_990), (d, 9_990), (d, 19_900)]) {
            // Whatever the answer is, there is one.
            let _ = sql_uses_window(&format!("select {first}{}", more.repeat(times)), dialect);
        }
    }
    check(&ALL, &chain(200_000), true);
    check(&ALL, &format!("select {}1{}", "(".repeat(9_000), ")".repeat(9_000)), true);
}

#[test]
fn a_window_needs_a_group_key_only_if_it_could_be_split() {
    let window = "select sum(x) over () from t";
    let check = |sql: &str, key: &[&str], units| {
        let key: Vec<String> = key.iter().map(|&c| c.to_owned()).collect();
        check_query_groups(sql, SqlDialect::Sqlite, &key, units).map_err(|r| r.code)
    };
    assert_eq!(check(window, &[], 2), Err(Code::WindowFunctionUnproven));
    assert_eq!(check(window, &[], 1), Ok(()));
    assert_eq!(check(window, &["k"], 2), Ok(()));
    assert_eq!(check("select x from t", &[], 2), Ok(()));
}
