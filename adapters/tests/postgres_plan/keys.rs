use dpone_adapters::postgres_source::{KeyKind, KeySql, RelationSql};
use dpone_engine::manifest::PlannerMode;
use dpone_engine::plan::SourceFacts;
use dpone_engine::ranges::{Split, UnitRange, plan_ranges, render_value};
use dpone_engine::schema::LogicalType;

use super::{Database, by, codes, query, stated, table};

/// The ranges that the facts give, as the planner cuts them.
fn ranges(facts: &SourceFacts, units: u32) -> Vec<UnitRange> {
    let key = facts.key.as_ref().unwrap();
    let split = match &key.steps {
        Some(steps) => Split::Steps { steps: steps.clone(), units, least: 1 },
        None => Split::Auto { extent: key.extent.clone(), units },
    };
    plan_ranges(facts.key_column.as_ref(), &split).unwrap()
}

/// Rows of each range, read by statements as the source reads them.
fn rows(database: &Database, facts: &SourceFacts, from: &str, cast: &str, units: u32) -> Vec<u64> {
    let column = facts.key_column.as_ref().unwrap();
    let (expression, kind) = match cast {
        "ctid" => ("t.ctid".to_owned(), KeyKind::Block),
        cast => (format!("t.{}", column.name), KeyKind::Column { cast: cast.into(), ty: column.ty.clone() }),
    };
    let key = Some(KeySql { expression, kind });
    let sql = RelationSql { from: format!("{from} AS t"), columns: vec!["1".into()], key };
    let units = ranges(facts, units);
    database.counts(units.iter().map(|unit| sql.rows(&unit.scope)))
}

fn extent(facts: &SourceFacts) -> Option<[String; 2]> {
    let ty = &facts.key_column.as_ref().unwrap().ty;
    let (least, greatest) = facts.key.as_ref().unwrap().extent.as_ref()?;
    Some([render_value(ty, least), render_value(ty, greatest)])
}

#[test]
fn every_key_that_can_be_cut_holds_each_row_once() {
    let database = Database::with(
        "create table t as select g as i, (g * 10 || '.25')::numeric(12,2) as n, g::numeric as open, g::text::money as m, \
         date '2024-01-01' + g as d, timestamp '2024-01-01' + g * interval '1 s' as ts, \
         timestamptz '2024-01-01 00:00Z' + g * interval '1.5 s' as tz, md5(g::text)::uuid as u, g::float8 / 3 as f, \
         (g::float4 / 3)::float4 as f4, 'k' || g as s, ('K' || g)::varchar(20) collate \"C\" as v, (g || 'x')::char(9) as c, \
         g::oid as o from generate_series(1, 1000) g; \
         insert into t (i) values (null), (null); \
         insert into t (n, open, d, ts, tz, f, f4) values ('NaN', 'NaN', 'infinity', 'infinity', 'infinity', 'NaN', 'NaN'), \
         (null, '-Infinity', '-infinity', '-infinity', '-infinity', '-Infinity', '-Infinity'), \
         (null, '1e60', '0044-03-15 BC', '0044-03-15 BC', '0044-03-15 BC', 'Infinity', 'Infinity')",
    );
    let total = 1005;
    for (key, cast) in [
        ("i", "pg_catalog.int4"),
        ("n", "pg_catalog.numeric"),
        ("open", "pg_catalog.numeric"),
        ("m", "pg_catalog.numeric::pg_catalog.money"),
        ("d", "pg_catalog.date"),
        ("ts", "pg_catalog.timestamp"),
        ("tz", "pg_catalog.timestamptz"),
        ("u", "pg_catalog.uuid"),
        ("f", "pg_catalog.float8"),
        ("f4", "pg_catalog.float4"),
        ("s", "pg_catalog.text"),
        ("v", "pg_catalog.text"),
        ("c", "pg_catalog.bpchar"),
        ("o", "pg_catalog.oid"),
        ("ctid", "ctid"),
    ] {
        for units in [1, 2, 4, 7] {
            let mode = if key == "ctid" { PlannerMode::Ctid } else { PlannerMode::Auto };
            let mut request = stated(by(table("t"), key, mode), &[("open", "decimal(38,10)")]);
            request.planner.units = units;
            let facts = database.describe(&request).unwrap();
            let found = rows(&database, &facts, "public.t", cast, units);
            assert_eq!(found.iter().sum::<u64>(), total, "{key} in {units}: {found:?}");
            if units > 1 {
                let intervals = units as usize + usize::from(key != "ctid");
                assert_eq!(found.len(), intervals, "{key} in {units}");
                let fair = found.iter().all(|rows| *rows <= 2 * total / u64::from(units));
                assert!(fair, "{key} in {units}: {found:?}");
            }
        }
    }
}

#[test]
fn bounds_are_finite_and_exact() {
    let database = Database::with(
        "create table t (n numeric(20,10), d date, z timestamptz(3), u uuid, e int); \
         insert into t values ('NaN', 'infinity', 'infinity', '00000000-0000-0000-0000-ffffffffffff', null), \
         (-0.0000000001, '0001-01-01', '2024-01-01 12:00:00.125+03', 'ffffffff-ffff-ffff-ffff-000000000000', null), \
         (9999999999.9999999999, '9999-12-31', '2024-01-02', null, null)",
    );
    let check = |key: &str, expect: Option<[&str; 2]>| {
        let facts = database.describe(&by(table("t"), key, PlannerMode::Auto)).unwrap();
        assert_eq!(extent(&facts), expect.map(|e| e.map(str::to_owned)), "{key}");
    };
    check("n", Some(["-0.0000000001", "9999999999.9999999999"]));
    check("d", Some(["0001-01-01", "9999-12-31"]));
    check("z", Some(["2024-01-01T09:00:00.125Z", "2024-01-02T00:00:00.000Z"]));
    check("u", Some(["00000000-0000-0000-0000-ffffffffffff", "ffffffff-ffff-ffff-ffff-000000000000"]));
    check("e", None);
}

#[test]
fn texts_are_cut_in_their_own_collation() {
    let database = Database::with(
        "create collation folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
         create table t (k text collate folded primary key); \
         insert into t select case when g % 2 = 0 then 'a' else 'B' end || g from generate_series(1, 500) g",
    );
    let facts = database.describe(&by(table("t"), "k", PlannerMode::Auto)).unwrap();
    assert!(facts.key_indexed);
    let found = rows(&database, &facts, "public.t", "pg_catalog.text", 4);
    assert_eq!(found.iter().sum::<u64>(), 500);
    assert!(found.iter().all(|rows| (100..=150).contains(rows)), "{found:?}");
}

#[test]
fn statistics_cut_skewed_keys_without_a_scan() {
    let database = Database::with(
        "create table t (k int, pad text); \
         insert into t select case when g % 10 = 0 then g * 1000 when g % 10 < 4 then 7 else g end, repeat('x', 20) \
         from generate_series(1, 50000) g; create index on t (k)",
    );
    let request = by(table("t"), "k", PlannerMode::Statistics);
    let facts = database.describe(&request).unwrap();
    assert_eq!(facts.key_refused.unwrap().code.as_str(), "source_stats_low_confidence");
    database.run("analyze t");
    let facts = database.describe(&request).unwrap();
    assert!(facts.key_refused.is_none() && facts.key_indexed);
    let found = rows(&database, &facts, "public.t", "pg_catalog.int4", 5);
    assert_eq!(found.iter().sum::<u64>(), 50_000);
    // Three of ten rows have one key, which no range can share; the others are even.
    assert!(found.iter().max() <= Some(&26_000) && found.len() >= 5, "{found:?}");
    // More than a tenth has changed.
    database.run("update t set pad = 'y' where k = 7; select pg_stat_force_next_flush()");
    let facts = database.describe(&request).unwrap();
    assert_eq!(facts.key_refused.unwrap().code.as_str(), "source_stats_low_confidence");
    let facts = database.describe(&by(query("select k from t"), "k", PlannerMode::Statistics)).unwrap();
    assert_eq!(facts.key_refused.unwrap().code.as_str(), "source_stats_low_confidence");
}

#[test]
fn partitions_are_one_table() {
    let database = Database::with(
        "create table t (k int not null, v text) partition by range (k); \
         create table t1 partition of t for values from (0) to (500); \
         create table t2 partition of t for values from (500) to (1000); \
         create table t3 partition of t default; \
         insert into t select g, 'x' from generate_series(0, 1999) g",
    );
    // In a transaction of its own: what the same one wrote counts as changed since.
    database.run("analyze t");
    let facts = database.describe(&by(table("t"), "k", PlannerMode::Statistics)).unwrap();
    assert!(facts.key_indexed, "ranges leave out partitions");
    let found = rows(&database, &facts, "public.t", "pg_catalog.int4", 4);
    assert_eq!(found.iter().sum::<u64>(), 2000);
    assert!(found.iter().all(|rows| (400..=600).contains(rows)), "{found:?}");
    let facts = database.describe(&by(table("t"), "ctid", PlannerMode::Ctid)).unwrap();
    assert_eq!(facts.key_refused.unwrap().code.as_str(), "unsupported_boundary_type");
}

#[test]
fn an_index_is_one_that_the_range_can_use() {
    let database = Database::with(
        "create table t (a int primary key, b int, c int, d text, e text, f int, g int); create index on t (b, c); \
         create index on t (d text_pattern_ops); create index on t (e); create index on t (f) where f > 0; \
         create index on t using hash (g)",
    );
    let indexed = |key: &str| database.describe(&by(table("t"), key, PlannerMode::Auto)).unwrap().key_indexed;
    let found: Vec<bool> = ["a", "b", "c", "d", "e", "f", "g"].into_iter().map(indexed).collect();
    assert_eq!(found, [true, true, false, false, true, false, false]);
    let by_query = |sql: &str| database.describe(&by(query(sql), "a", PlannerMode::Auto)).unwrap().key_indexed;
    assert!(by_query("select a from t where b > 0"));
    assert!(by_query("select a, count(*) as n from t group by a"), "the condition reaches below the groups");
    assert!(!by_query("select a + 0 as a from t"), "no index has what the query computes");
}

#[test]
fn tables_without_rows_or_keys_are_planned() {
    let database = Database::with("create table t (k int, s text, j jsonb)");
    for (key, mode) in [("k", PlannerMode::Auto), ("s", PlannerMode::Auto), ("ctid", PlannerMode::Ctid)] {
        let facts = database.describe(&by(table("t"), key, mode)).unwrap();
        assert!(ranges(&facts, 4).len() <= 2, "{key}");
    }
    let facts = database.describe(&by(table("t"), "j", PlannerMode::Auto)).unwrap();
    assert_eq!(facts.key_refused.unwrap().code.as_str(), "unsupported_boundary_type");
    assert_eq!(codes(database.describe(&by(table("t"), "x", PlannerMode::Auto))), ["source_column_not_found"]);
    let facts = database.describe(&by(table("t"), "ctid", PlannerMode::Ctid)).unwrap();
    assert_eq!(facts.key_column.unwrap().ty, LogicalType::UInt { bits: 32 });
}
