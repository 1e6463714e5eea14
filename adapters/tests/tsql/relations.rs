//! Tables, views and queries: their columns, and what stands against reading them.

use dpone_adapters::odbc_source::tsql::look;
use dpone_engine::codes::Code;
use dpone_engine::plan::RelationKind;
use dpone_engine::ranges::Scope;
use dpone_fixtures::tds::TdsServer;

use super::{codes, connect, request};

const SHOP: &str =
    "CREATE TABLE dbo.[order lines] (id int NOT NULL PRIMARY KEY, [the ]]amount] decimal(18,4), Note nvarchar(20),
 note_ varchar(8), v sql_variant)
GO
INSERT INTO dbo.[order lines] (id, [the ]]amount], Note) VALUES (1, 0.5, N'it''s'), (2, NULL, NULL)
GO
CREATE TABLE dbo.plain (id int NOT NULL, k bigint)
GO
CREATE VIEW dbo.summed AS SELECT id, SUM(k) OVER (ORDER BY id) AS total FROM dbo.plain
GO
CREATE VIEW dbo.above AS SELECT id, total FROM dbo.summed
";

#[test]
fn columns_and_names_are_the_catalogs() {
    let server = TdsServer::start(SHOP);
    let mut connection = connect(&server);
    let lines = "table: {schema: dbo, name: order lines}";
    assert_eq!(codes(look(&mut connection, &request(lines, "{}"))), [Code::UnsupportedType]);
    let some = "{columns: [\"the ]amount\", id, Note]}";
    let found = look(&mut connection, &request(lines, some)).unwrap();
    let schema = found.schema();
    let shown: Vec<_> = schema.columns.iter().map(|c| format!("{} {} {}", c.name, c.ty, c.nullable)).collect();
    assert_eq!(shown, ["the ]amount decimal(18,4) true", "id int32 false", "Note text true"]);
    assert_eq!((found.kind, found.rows), (RelationKind::Table, Some(2)));
    let expressions: Vec<&str> = found.columns.iter().map(|c| c.expression.as_str()).collect();
    let mut rows = connection.query(&found.sql.rows(&expressions, &Scope::WholeTable)).unwrap();
    rows.sort_by_key(|row| row[1].clone());
    assert_eq!(rows[0][1..], [Some("1".to_owned()), Some("it's".to_owned())]);
    assert_eq!(rows[1], [None, Some("2".to_owned()), None]);
    assert_eq!(connection.query(&found.sql.count()).unwrap(), [[Some("2".to_owned())]]);

    // Names are the server's to compare; what is near is said.
    assert!(look(&mut connection, &request("table: {name: PLAIN}", "{}")).is_ok());
    assert!(look(&mut connection, &request("table: {database: master, schema: dbo, name: plain}", "{}")).is_ok());
    let near = look(&mut connection, &request("table: {schema: dbo, name: plainn}", "{}")).unwrap_err();
    assert_eq!(near[0].code, Code::SourceTableNotFound);
    assert!(near[0].fix.as_ref().unwrap().contains("\"plain\""), "{near:?}");
    let elsewhere = look(&mut connection, &request("table: {schema: sales, name: plain}", "{}")).unwrap_err();
    assert!(elsewhere[0].fix.as_ref().unwrap().contains("\"dbo\""), "{elsewhere:?}");
    let unknown = request("table: {name: plain}", "{columns: [id, K]}");
    assert_eq!(codes(look(&mut connection, &unknown)), [Code::SourceColumnNotFound]);
    let unknown = request("table: {name: plain}", "{types: {kk: text}}");
    assert_eq!(codes(look(&mut connection, &unknown)), [Code::SourceColumnNotFound]);
}

#[test]
fn views_show_their_texts_and_those_below() {
    let server = TdsServer::start(SHOP);
    let mut connection = connect(&server);
    let found = look(&mut connection, &request("table: {schema: dbo, name: above}", "{}")).unwrap();
    assert_eq!((found.kind, found.rows, found.key_indexed), (RelationKind::View, None, false));
    assert!(found.schema().columns.iter().all(|column| column.nullable));
    assert!(found.view_sql.iter().any(|sql| sql.contains("OVER")), "{:?}", found.view_sql);
    let through = look(&mut connection, &request("query: select id from dbo.above", "{}")).unwrap();
    assert!(through.view_sql.iter().any(|sql| sql.contains("OVER")), "{:?}", through.view_sql);
    let plain = look(&mut connection, &request("query: select id, k from dbo.plain", "{}")).unwrap();
    assert_eq!(plain.view_sql, Vec::<String>::new());
}

#[test]
fn a_query_is_one_select_with_named_columns() {
    let server = TdsServer::start(SHOP);
    let mut connection = connect(&server);
    let mut check = |sql: &str, expect: &[Code]| {
        let found = look(&mut connection, &request(&format!("query: {sql:?}"), "{}"));
        assert_eq!(codes(found), expect, "{sql}");
    };
    check("select id, k from dbo.plain -- all", &[]);
    check("with a as (select id from dbo.plain) select id, id + 1 as next from a;", &[]);
    check("select id from dbo.nothing", &[Code::SourceQueryInvalid]);
    check("select nothing from dbo.plain", &[Code::SourceQueryInvalid]);
    check("select id from dbo.plain; select 1 as x", &[Code::SourceQueryInvalid]);
    check("with a as (select 1 as x) delete from dbo.plain", &[Code::SourceQueryInvalid]);

    // A WITH stands before the statement that reads it.
    let sql = "with a as (select id, id * 2 as twice from dbo.[order lines]) select twice as t2, id from a";
    let found = look(&mut connection, &request(&format!("query: {sql:?}"), "{columns: [id, t2]}")).unwrap();
    let expressions: Vec<&str> = found.columns.iter().map(|c| c.expression.as_str()).collect();
    let mut rows = connection.query(&found.sql.rows(&expressions, &Scope::WholeTable)).unwrap();
    rows.sort();
    let shown: Vec<_> = rows.into_iter().flatten().flatten().collect();
    assert_eq!(shown, ["1", "2", "2", "4"]);
}

#[test]
fn stated_types_are_read_as_the_server_writes_them() {
    let server = TdsServer::start(
        "CREATE TABLE dbo.t (m money, d datetime, s smalldatetime, d2 datetime2(7), dt date, tm time(7), f float,
          u uniqueidentifier, i bigint, x decimal(5,2))
        GO
        INSERT INTO dbo.t VALUES (-0.01, '2018-04-01 12:00:01.003', '2018-04-01 12:00:00', '2024-02-29 23:59:59.1234567',
          '0001-01-01', '23:59:59.1234567', 0.1, '6F9619FF-8B86-D011-B42D-00C04FC964FF', -5, -0.5)",
    );
    let mut connection = connect(&server);
    let names = ["m", "d", "s", "d2", "dt", "tm", "f", "u", "i", "x"];
    let types: Vec<String> = names.iter().map(|name| format!("{name}: text")).collect();
    let options = format!("{{types: {{{}}}}}", types.join(", "));
    let found = look(&mut connection, &request("table: {name: t}", &options)).unwrap();
    let expressions: Vec<&str> = found.columns.iter().map(|c| c.expression.as_str()).collect();
    let rows = connection.query(&found.sql.rows(&expressions, &Scope::WholeTable)).unwrap();
    let shown: Vec<&str> = rows[0].iter().map(|cell| cell.as_deref().unwrap().trim_end()).collect();
    let expect = [
        "-0.0100",
        "2018-04-01 12:00:01.003",
        "2018-04-01 12:00:00",
        "2024-02-29 23:59:59.1234567",
        "0001-01-01",
        "23:59:59.1234567",
        "1.0000000000000001e-01",
        "6F9619FF-8B86-D011-B42D-00C04FC964FF",
        "-5",
        "-0.50",
    ];
    assert_eq!(shown, expect);
}
