//! Every row in exactly one unit.

use dpone_adapters::sqlite_source::{SqliteRequest, SqliteSource, describe};
use dpone_engine::ports::Source;
use dpone_engine::ranges::{Bound, Scope, UnitRange};
use dpone_engine::run::Receipt;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::support::{Db, block_on, done, plan, read_all, units, with_key, with_type};

/// Rows of each unit, and the count over all, for that many ranges.
fn split(db: &Db, table: &str, key: &str, ranges: u32) -> (Vec<usize>, u64) {
    let request = with_key(db.table(table), key);
    let facts = describe(&request).unwrap();
    let plan = plan(&request, &facts, units(&request, &facts, ranges));
    let source = SqliteSource::new(plan.clone()).unwrap();
    let count = block_on(async {
        done(source.open(1).await);
        let counted = done(source.count().await);
        source.close().await;
        counted
    });
    let Receipt::Counted { rows } = count else { panic!("{count:?}") };
    (read_all(plan, 8 << 20).unwrap().iter().map(|r| r.rows.len()).collect(), rows)
}

#[test]
fn null_keys_have_one_bucket() {
    let db = Db::new(
        "create table l4(k bigint, v text);
         insert into l4 values (1,'a'),(2,'b'),(3,'c'),(4,'d'),(null,'n1'),(null,'n2');",
    );
    for (statement, rows) in [("", 6), ("delete from l4 where k is not null", 2), ("delete from l4", 0)] {
        db.connection().execute_batch(statement).unwrap();
        for ranges in [1, 2, 4, 7] {
            let (found, count) = split(&db, "l4", "k", ranges);
            assert_eq!((found.iter().sum::<usize>(), count), (rows, rows as u64), "{statement} {ranges}");
            if ranges > 1 {
                assert_eq!(found.last(), Some(&rows.min(2)));
            }
        }
    }
}

#[test]
fn every_key_type_is_split_without_loss() {
    let db = Db::new(
        "create table t(i bigint, d date, ts timestamp, x decimal(12,2));
         with recursive n(n) as (select 0 union all select n + 1 from n where n < 499)
         insert into t select (n - 250) * 36893488147419103, date('2000-02-29', n || ' days'),
           datetime('2000-01-01', n * 977 || ' minutes'), (n - 250) / 100.0 from n;
         insert into t values (9223372036854775807, '9999-12-31', '2000-01-01 00:00:00.5', 99999.99),
           (-9223372036854775807 - 1, '0001-01-01', '2000-01-01 00:00:00.25', -99999.99), (null, null, null, null);",
    );
    for key in ["i", "d", "ts", "x"] {
        for ranges in [2, 3, 16] {
            let (found, count) = split(&db, "t", key, ranges);
            assert_eq!((found.iter().sum::<usize>(), count), (503, 503), "{key} {ranges}");
        }
    }
}

#[test]
fn keys_outside_the_bounds_are_read_by_the_open_ends() {
    let db = Db::new("create table t(k integer); insert into t values (-100), (0), (5), (9), (2.5), (100);");
    let request = with_type(with_key(db.table("t"), "k"), "k", LogicalType::Float { bits: 64 });
    let facts = describe(&request).unwrap();
    let at = |v| Value::Int(v);
    let scopes = [
        Scope::Interval { lower: Bound::Open, upper: Bound::Exclusive(at(5)) },
        Scope::Interval { lower: Bound::Inclusive(at(5)), upper: Bound::Open },
        Scope::Null,
    ];
    let units = (0..).zip(scopes).map(|(ordinal, scope)| UnitRange { ordinal, scope }).collect();
    let reads = read_all(plan(&request, &facts, units), 8 << 20).unwrap();
    assert_eq!(reads.iter().map(|r| r.rows.len()).collect::<Vec<_>>(), [3, 3, 0]);
}

/// Why ranges of the key cannot be planned.
fn refused(request: &SqliteRequest) -> Option<&'static str> {
    describe(request).unwrap().key_refused.map(|refusal| refusal.code.as_str())
}

#[test]
fn a_form_that_does_not_sort_is_refused_or_found() {
    let db = Db::new(
        "create table t(d DECIMAL_TEXT(10,2), z timestamp, s varchar(10), ts timestamp);
         insert into t values ('9.00', '2024-01-01T00:00:00Z', '5', '2024-01-01 10:00:00'), ('10.00', null, '10', '2024-01-01T09:00:00');",
    );
    let request = with_type(db.table("t"), "z", LogicalType::Timestamp { digits: 0, utc: true });
    for key in ["d", "z"] {
        assert_eq!(refused(&with_key(request.clone(), key)), Some("unsupported_boundary_type"));
    }
    let request = with_type(request, "s", LogicalType::Int { bits: 64 });
    assert_eq!(refused(&with_key(request.clone(), "s")), Some("unsupported_boundary_type"));
    // The second cell is the earlier one by value and the later one by text.
    let mut request = with_key(request, "ts");
    request.columns = Some(vec!["ts".into()]);
    let facts = describe(&request).unwrap();
    let bound = Value::Ticks { ticks: 1_704_102_000_000_000, digits: 6 };
    let units =
        vec![UnitRange { ordinal: 0, scope: Scope::Interval { lower: Bound::Inclusive(bound), upper: Bound::Open } }];
    let why = read_all(plan(&request, &facts, units), 8 << 20).unwrap_err();
    assert!(why.detail.contains("rowid 2") && why.detail.contains("does not sort"), "{}", why.detail);
}
