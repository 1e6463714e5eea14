use dpone_adapters::postgres_source::{PostgresRequest, describe};
use dpone_engine::manifest::{PlannerMode, Relation, TableRef};
use dpone_engine::plan::RelationKind;

use super::{Database, by, codes, query, request, shown, table};

#[test]
fn names_are_the_catalogs_own() {
    let database = Database::with(
        "create schema \"My Shop\"; create table \"My Shop\".\"Orders\" (\"Id\" int primary key); create table items (id int)",
    );
    let named = |schema: Option<&str>, name: &str, database: Option<&str>| {
        let (schema, database) = (schema.map(str::to_owned), database.map(str::to_owned));
        request(Relation::Table(TableRef { database, schema, name: name.into() }))
    };
    assert_eq!(
        shown(&database.describe(&named(Some("My Shop"), "Orders", None)).unwrap()),
        ["Id int32 not null (integer)"]
    );
    assert!(database.describe(&named(None, "items", Some(&database.0))).is_ok());
    for (request, fix) in [
        (named(Some("My Shop"), "orders", None), "Did you mean \"Orders\"?"),
        (named(None, "Orders", None), "in schema \"My Shop\""),
        (named(None, "itmes", None), "Did you mean \"items\"?"),
        (named(None, "items", Some("elsewhere")), "Remove `database`"),
    ] {
        let refusals = database.describe(&request).unwrap_err();
        assert_eq!(refusals[0].code.as_str(), "source_table_not_found");
        assert!(refusals[0].fix.as_ref().unwrap().contains(fix), "{refusals:?}");
    }
    let chosen = PostgresRequest { columns: Some(vec!["ID".into()]), ..named(Some("My Shop"), "Orders", None) };
    let refusals = database.describe(&chosen).unwrap_err();
    assert_eq!(
        (refusals[0].code.as_str(), refusals[0].fix.as_deref()),
        ("source_column_not_found", Some("Did you mean \"Id\"?"))
    );
}

#[test]
fn queries_are_one_select() {
    let database = Database::with("create table t (id int primary key, n numeric(12,2))");
    let facts = database.describe(&query("select id, n * 1 as m, n from t; -- done")).unwrap_err();
    assert_eq!(facts[0].code.as_str(), "unconstrained_numeric_requires_type");
    let facts = database.describe(&query("select id, n, n::numeric(20,4) as wide from t -- done")).unwrap();
    assert_eq!(facts.relation, RelationKind::Query);
    assert_eq!(
        shown(&facts),
        ["id int32 (integer)", "n decimal(12,2) (numeric(12,2))", "wide decimal(20,4) (numeric(20,4))"]
    );
    for (sql, code) in [
        ("select id, id from t", "duplicate_column_name"),
        ("select 1", "unnamed_column"),
        ("select x from t", "source_query_invalid"),
        ("select id from nowhere", "source_query_invalid"),
        ("select id from t; drop table t", "source_query_invalid"),
        ("select id from t where id = $1", "source_query_invalid"),
        ("delete from t", "source_query_invalid"),
        ("with gone as (delete from t returning id) select id from gone", "source_query_invalid"),
    ] {
        assert_eq!(codes(database.describe(&query(sql))), [code], "{sql}");
    }
}

#[test]
fn views_are_read_with_the_texts_below_them() {
    let database = Database::with(
        "create table t (id int primary key, v int); create view a as select id, v from t where v > 0; \
         create view b as select id, sum(v) over () as total from a; create view c as select * from b; \
         create materialized view m as select id from t; create index on m (id)",
    );
    let facts = database.describe(&by(table("a"), "id", PlannerMode::Auto)).unwrap();
    assert_eq!((facts.relation, facts.view_sql.len(), facts.key_indexed), (RelationKind::View, 1, true));
    let facts = database.describe(&table("c")).unwrap();
    assert_eq!(facts.view_sql.len(), 3);
    assert!(facts.view_sql.iter().any(|sql| sql.to_lowercase().contains("over ()")));
    let facts = database.describe(&query("select id from C")).unwrap();
    assert_eq!(facts.view_sql.len(), 3);
    let facts = database.describe(&by(table("m"), "id", PlannerMode::Auto)).unwrap();
    assert_eq!((facts.relation, facts.key_indexed), (RelationKind::Table, true));
}

#[test]
fn what_may_not_be_read_is_refused() {
    let database = Database::with(
        "create table t (id int primary key, secret int); create table r (id int); alter table r enable row level security; \
         create policy p on r using (id > 0); do $$ begin create role reader login; exception when duplicate_object then null; end $$; \
         grant select (id) on t to reader; grant select on r to reader",
    );
    let as_reader = |request: &PostgresRequest| describe(&database.config("reader"), request);
    assert_eq!(codes(as_reader(&table("t"))), ["source_permission_denied"]);
    assert!(as_reader(&PostgresRequest { columns: Some(vec!["id".into()]), ..table("t") }).is_ok());
    let facts = as_reader(&table("r")).unwrap();
    assert!(facts.warnings.iter().any(|text| text.contains("row-level security")), "{:?}", facts.warnings);
    assert!(!database.describe(&table("r")).unwrap().warnings.iter().any(|text| text.contains("row-level security")));
}

#[test]
fn foreign_tables_have_one_session() {
    let database = Database::with("create table t (id int primary key)");
    database.run(&format!(
        "create extension postgres_fdw; create server s foreign data wrapper postgres_fdw \
         options (host '127.0.0.1', port '{}', dbname '{}'); create user mapping for test server s options (user 'test'); \
         create foreign table f (id int not null) server s options (table_name 't'); \
         create table p (id int not null) partition by range (id); \
         create table p1 partition of p for values from (0) to (10); \
         create foreign table p2 partition of p for values from (10) to (20) server s options (table_name 't')",
        dpone_fixtures::postgres::Postgres::shared().port(),
        database.0
    ));
    let facts = database.describe(&table("f")).unwrap();
    assert_eq!(facts.max_sessions, 1);
    assert_eq!(shown(&facts), ["id int32 (integer)"]);
    assert_eq!(database.describe(&table("p")).unwrap().max_sessions, 1);
    assert_eq!(database.describe(&table("t")).unwrap().max_sessions, 64);
}
