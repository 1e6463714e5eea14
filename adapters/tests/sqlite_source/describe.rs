//! Preflight: names, types, refusals.

use dpone_adapters::sqlite_source::{SqliteRequest, describe};
use dpone_engine::codes::Code;
use dpone_engine::manifest::Relation;
use dpone_engine::plan::facts::RelationKind;
use dpone_engine::schema::LogicalType;

use super::support::{Db, codes, read_whole, with_key, with_type};

fn types(request: &SqliteRequest) -> Vec<String> {
    let facts = describe(request).unwrap();
    facts
        .schema
        .columns
        .iter()
        .map(|c| format!("{} {}{}", c.name, c.ty, if c.nullable { "" } else { " not null" }))
        .collect()
}

#[test]
fn a_table_is_described_by_its_declarations() {
    let db = Db::new(
        "create table t(id integer primary key, \"a b\" varchar(20) not null, \"q\"\"uote\" double, \"ünï\" blob, d date,
         g integer generated always as (id * 2) stored, v int as (id + 1) virtual, n numeric(10,2), tx DECIMAL_TEXT(38,10));",
    );
    let expect = [
        "id int64 not null",
        "a b text not null",
        "q\"uote float64",
        "ünï binary",
        "d date",
        "g int64",
        "v int64",
        "n decimal(10,2)",
        "tx decimal(38,10)",
    ];
    assert_eq!(types(&db.table("t")), expect);
    db.connection()
        .execute("insert into t(id, \"a b\", \"q\"\"uote\", tx) values (3, 'x', 1.5, '0.1000000000')", [])
        .unwrap();
    let rows = read_whole(&db.table("t")).unwrap();
    assert_eq!(rows[0], ["3", "\"x\"", "1.5", "NULL", "NULL", "6", "4", "NULL", "1000000000e-10"]);
}

#[test]
fn only_rowid_aliases_and_not_null_exclude_null() {
    let db = Db::new(
        "create table a(x integer primary key desc, y int); create table b(x int primary key, y int);
         create table c(x text primary key, y int) without rowid; create view v as select x, y from a;",
    );
    assert_eq!(types(&db.table("a")), ["x int64", "y int64"]);
    assert_eq!(types(&db.table("b")), ["x int64", "y int64"]);
    assert_eq!(types(&db.table("c")), ["x text not null", "y int64"]);
    assert_eq!(types(&db.table("v")), ["x int64", "y int64"]);
}

fn refused(request: &SqliteRequest, expect: &[&str], parts: &[&str]) {
    let refusals = describe(request).unwrap_err();
    assert_eq!(codes(&refusals), expect, "{refusals:?}");
    let said = |part: &Option<String>| part.clone().unwrap_or_default();
    let text: String =
        refusals.iter().map(|r| format!("{} {} {}\n", r.message, said(&r.place), said(&r.fix))).collect();
    for part in parts {
        assert!(text.contains(part), "{text} lacks {part}");
    }
}

#[test]
fn what_cannot_be_described_is_refused_by_code_and_place() {
    let db = Db::new(
        "create table t(id integer primary key, v, n numeric, geo point, s text, ts timestamp); create table typed(a int, b text);
         create view w as select id, s, id + 1 as e from t;",
    );
    refused(&db.table("orders"), &["source_table_not_found"], &["source.table.name"]);
    refused(&db.table("typd"), &["source_table_not_found"], &["Did you mean \"typed\"?"]);
    refused(
        &db.table("t"),
        &["column_type_undeclared", "unconstrained_numeric_requires_type", "unsupported_type"],
        &["\"v\"", "\"n\"", "\"geo\"", "types: {\"v\": \"string\", \"n\": \"decimal(38,10)\", \"geo\": \"string\"}`"],
    );
    // One key of the manifest, so one fix.
    let refusals = describe(&db.table("t")).unwrap_err();
    assert_eq!(refusals.iter().filter(|r| r.fix.is_some()).count(), 1, "{refusals:?}");
    refused(&db.table("w"), &["column_type_undeclared"], &["\"e\""]);
    let mut request = db.table("typed");
    request.columns = Some(vec!["a".into(), "bb".into()]);
    refused(&request, &["source_column_not_found"], &["source.options.columns[1]", "Did you mean \"b\"?"]);
    refused(
        &with_key(db.table("typed"), "A"),
        &["source_column_not_found"],
        &["Did you mean \"a\"?", "partitioning.column"],
    );
    refused(
        &with_type(db.table("typed"), "z", LogicalType::Text),
        &["source_column_not_found"],
        &["source.options.types"],
    );
    refused(
        &with_type(db.table("typed"), "a", LogicalType::Decimal { precision: 76, scale: 2 }),
        &["unsupported_type"],
        &["76"],
    );
    for (query, code) in [
        ("select 1 as a, 2 as a", "duplicate_column_name"),
        ("select t.id, u.id from t join t as u on t.id = u.id", "duplicate_column_name"),
        ("select id as \"\" from t", "unnamed_column"),
        ("select nothing from t", "source_query_invalid"),
        ("selec 1", "source_query_invalid"),
        ("", "source_query_invalid"),
        ("select a from typed; select b from typed", "source_query_invalid"),
        ("select a from typed where a = ?", "source_query_invalid"),
        ("delete from typed", "source_query_invalid"),
        ("insert into typed values (1, 'x') returning a", "source_query_invalid"),
        ("pragma user_version", "source_query_invalid"),
        ("attach 'x.db' as y", "source_query_invalid"),
        ("select a from typed) union all select a from (typed", "source_query_invalid"),
    ] {
        let refusals = describe(&db.query(query)).unwrap_err();
        assert!(codes(&refusals).contains(&code), "{query}: {refusals:?}");
    }
}

#[test]
fn a_file_that_is_no_database_is_not_found_and_not_made() {
    let db = Db::new("");
    std::fs::write(db.folder.path().join("text.db"), "this is no database, and long enough to be looked at".repeat(50))
        .unwrap();
    for name in ["missing.db", "text.db", "."] {
        let path = db.folder.path().join(name);
        let request = SqliteRequest { path: path.clone(), ..db.table("t") };
        refused(&request, &["source_not_found"], &[name]);
        assert_eq!(path.exists(), name != "missing.db");
    }
    refused(&db.table("t"), &["source_table_not_found"], &[]);
}

#[test]
fn names_that_differ_in_case_are_kept_apart() {
    let db = Db::new("create table t(id integer primary key, s text); insert into t values (1, 'x');");
    let request = db.query("select id as a, s as A from t -- the end");
    let facts = describe(&request).unwrap();
    assert_eq!(facts.relation, RelationKind::Query);
    assert!(facts.warnings.iter().any(|w| w.contains("differ only in case")));
    assert_eq!(read_whole(&request).unwrap(), [["1", "\"x\""]]);
    let request = SqliteRequest { columns: Some(vec!["A".into(), "a".into()]), ..request };
    assert_eq!(read_whole(&request).unwrap(), [["\"x\"", "1"]]);
    for query in ["select id from t;", "with q as (select id from t) select id from q; -- end", "values (1)"] {
        let request = db.query(query);
        let request =
            if query == "values (1)" { with_type(request, "column1", LogicalType::Int { bits: 8 }) } else { request };
        assert_eq!(read_whole(&request).unwrap(), [["1"]], "{query}");
    }
}

#[test]
fn a_thousand_columns_are_read_in_manifest_order() {
    let names: Vec<String> = (0..1200).map(|i| format!("column {i} of many")).collect();
    let quoted: Vec<String> = names.iter().map(|n| format!("\"{n}\" text")).collect();
    let values: Vec<String> = (0..1200).map(|i| format!("'{i}'")).collect();
    let db = Db::new(&format!("create table w({}); insert into w values ({});", quoted.join(","), values.join(",")));
    let mut request = db.table("w");
    request.columns = Some(names.iter().rev().cloned().collect());
    let facts = describe(&request).unwrap();
    assert!(facts.min_grant < 32 << 20, "{}", facts.min_grant);
    let plan = super::support::plan(&request, &facts, super::support::whole());
    let reads = super::support::read_all(plan, 32 << 20).unwrap();
    let expect: Vec<String> = (0..1200).rev().map(|i| format!("\"{i}\"")).collect();
    assert_eq!(reads[0].rows, [expect]);
}

#[test]
fn a_locked_database_is_not_a_missing_one() {
    let db = Db::new("create table t(id integer primary key); insert into t values (1)");
    let writer = db.connection();
    writer.execute_batch("begin exclusive").unwrap();
    let refusals = describe(&db.table("t")).unwrap_err();
    assert_eq!(refusals[0].code, Code::SourceLocked);
    writer.execute_batch("commit").unwrap();
    assert!(describe(&db.table("t")).is_ok());
}

#[test]
fn more_columns_than_a_statement_can_have_are_refused_before_a_run() {
    let columns = |n: usize| (1..n).map(|i| format!(", c{i} int")).collect::<String>();
    let refused = |n: usize, text: bool| {
        let first = if text { ", c0 text" } else { "" };
        let pragma = if text { "pragma encoding = 'UTF-16';" } else { "" };
        let db = Db::new(&format!(
            "{pragma} create table t(id integer primary key{first}{})",
            columns(n - usize::from(text))
        ));
        describe(&db.table("t")).err().map(|refusals| refusals[0].code)
    };
    // One more tells the rows apart, and one for each text of a database that is stored as UTF-16.
    assert_eq!(refused(1999, false), None);
    assert_eq!(refused(2000, false), Some(Code::SourceQueryInvalid));
    assert_eq!(refused(1998, true), None);
    assert_eq!(refused(1999, true), Some(Code::SourceQueryInvalid));
}

#[test]
fn an_index_that_leads_with_the_column_is_seen() {
    let db = Db::new(
        "create table t(id integer primary key, a int, b int, c int, d int); create index ab on t(a, b);
         create index part on t(c) where c > 5; create view v as select id, a, d from t; create view g as select d as x, count(*) as n from t group by d;",
    );
    for (table, column, expect) in [
        ("t", "id", true),
        ("t", "a", true),
        ("t", "b", false),
        ("t", "c", false),
        ("t", "d", false),
        ("v", "id", true),
        ("v", "a", true),
        ("v", "d", false),
    ] {
        let facts = describe(&with_key(db.table(table), column)).unwrap();
        assert_eq!(facts.key_indexed, expect, "{table}.{column}");
    }
    let grouped = with_type(with_key(db.table("g"), "x"), "n", LogicalType::Int { bits: 64 });
    assert!(!describe(&grouped).unwrap().key_indexed);
    let query = SqliteRequest {
        relation: Relation::Query("select id, a from t where b is null".into()),
        ..with_key(db.table("t"), "id")
    };
    assert!(describe(&query).unwrap().key_indexed);
}
