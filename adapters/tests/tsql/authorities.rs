//! Authorities, on answers as SQL Server gives them: the test server has neither snapshots nor history.

use dpone_adapters::odbc::{Described, OdbcError, Row};
use dpone_adapters::odbc_source::tsql::{Ask, authority, look, session_database};
use dpone_engine::codes::Code;
use dpone_fixtures::tds::TdsServer;

use super::{codes, connect, request};

/// Answers by what a statement has in it, the first that fits.
struct Recorded(Vec<(&'static str, Vec<Vec<Option<&'static str>>>)>);

impl Ask for Recorded {
    fn ask(&mut self, sql: &str) -> Result<Vec<Row>, OdbcError> {
        let (_, rows) = self.0.iter().find(|(part, _)| sql.contains(part)).unwrap_or_else(|| panic!("asked: {sql}"));
        Ok(rows.iter().map(|row| row.iter().map(|cell| cell.map(str::to_owned)).collect()).collect())
    }

    fn describe(&mut self, sql: &str) -> Result<Vec<Described>, OdbcError> {
        panic!("described: {sql}")
    }
}

fn parallel(relation: &str, consistency: &str, authority: &str) -> dpone_adapters::odbc_source::OdbcRequest {
    request(
        relation,
        &format!(
            "{{partitioning: {{column: id, range_parallelism: {{mode: required, reader_workers: 2, consistency: {consistency}, \
             consistency_authority: {{{authority}}}}}}}}}"
        ),
    )
}

const TABLE: &str = "table: {schema: dbo, name: orders}";
const CREATED: &str = "2025-01-01 00:00:00.000";

fn database(snapshots: &'static str, committed: &'static str) -> (&'static str, Vec<Vec<Option<&'static str>>>) {
    let row = vec![Some("srv"), Some("shop"), Some(CREATED), Some(snapshots), Some(committed), Some("0")];
    ("d.is_read_only FROM", vec![row])
}

#[test]
fn a_snapshot_is_one_of_the_database_that_is_read() {
    let ask =
        |row: Option<Vec<Option<&'static str>>>| Recorded(vec![("source_database_id", row.into_iter().collect())]);
    let named = parallel(TABLE, "database_snapshot", "database_snapshot: shop_snap");
    let row = |source: Option<&'static str>, of: Option<&'static str>| {
        vec![Some("srv"), Some("shop_snap"), Some("2026-01-31 01:02:03.457"), source, of, Some("shop")]
    };
    let found = authority(&mut ask(Some(row(Some("5"), Some("Shop")))), &named).unwrap();
    assert_eq!(found.identity, "mssql-snapshot:srv/shop_snap@2026-01-31 01:02:03.457");
    assert_eq!((found.persistent, found.transaction, found.database.as_deref()), (true, false, Some("shop_snap")));
    let proof = found.proof.unwrap();
    assert!(proof.contains("N'shop_snap'") && proof.contains("N'2026-01-31 01:02:03.457'"), "{proof}");
    assert_eq!(session_database(&named), Some("shop_snap"));
    for row in [None, Some(row(None, None)), Some(row(Some("7"), Some("other"))), Some(row(Some("7"), None))] {
        let refused = authority(&mut ask(row), &named).unwrap_err();
        assert_eq!(refused.code, Code::ConsistencyAuthorityMissing);
        assert!(refused.place.unwrap().ends_with("consistency_authority.database_snapshot"));
    }
    // The database that the table names is the one that counts.
    let table = "table: {database: other, schema: dbo, name: orders}";
    let elsewhere = parallel(table, "database_snapshot", "database_snapshot: shop_snap");
    assert!(authority(&mut ask(Some(row(Some("7"), Some("other")))), &elsewhere).is_ok());
    assert!(authority(&mut ask(Some(row(Some("5"), Some("shop")))), &elsewhere).is_err());
}

#[test]
fn a_moment_is_in_the_past_of_a_table_that_keeps_its_history() {
    let stated = parallel(TABLE, "temporal_as_of", "as_of: '2026-01-31T12:00:00.5Z'");
    let ask = |temporal, passed, kept, snapshots, committed| {
        Recorded(vec![
            database(snapshots, committed),
            ("history_retention_period", vec![vec![Some(kept)]]),
            ("SYSUTCDATETIME", vec![vec![Some(temporal), Some(passed)]]),
            ("OBJECT_ID(N'[dbo].[orders]')", vec![vec![Some("42"), Some("dbo"), Some("orders"), Some("U ")]]),
        ])
    };
    let found = authority(&mut ask("2", "1", "1", "1", "0"), &stated).unwrap();
    assert!(found.identity.ends_with(":[dbo].[orders].42@2026-01-31T12:00:00.5000000"), "{}", found.identity);
    assert!(found.persistent && found.proof.unwrap().contains("temporal_type = 2"));
    assert!(found.setup.contains(&"SET TRANSACTION ISOLATION LEVEL SNAPSHOT".to_owned()));
    // Where every statement has row versions, none are asked for.
    let found = authority(&mut ask("2", "1", "1", "1", "1"), &stated).unwrap();
    assert!(!found.setup.iter().any(|statement| statement.contains("SNAPSHOT")));
    for (temporal, passed, kept, snapshots) in
        [("0", "1", "1", "1"), ("1", "1", "1", "1"), ("2", "0", "1", "1"), ("2", "1", "0", "1"), ("2", "1", "1", "0")]
    {
        let refused = authority(&mut ask(temporal, passed, kept, snapshots, "0"), &stated).unwrap_err();
        assert_eq!(refused.code, Code::ConsistencyAuthorityMissing, "{temporal} {passed} {kept} {snapshots}");
    }
    let mut none = Recorded(Vec::new());
    let query = parallel("query: select 1 as id", "temporal_as_of", "as_of: '2026-01-31T12:00:00'");
    assert_eq!(codes(look(&mut none, &query)), [Code::ConsistencyModeUnsupported]);
}

#[test]
fn a_table_is_read_as_of_its_moment() {
    let stated = parallel(TABLE, "temporal_as_of", "as_of: '2026-01-31T12:00:00'");
    let column = |id, name, base, length, nullable, hidden| {
        let mut row = vec![Some(id), Some(name), Some(base), Some(base), Some(length), Some("0"), Some("0")];
        row.extend([Some(nullable), None, Some(hidden), Some("0"), None]);
        row
    };
    let mut ask = Recorded(vec![
        ("history_retention_period", vec![vec![Some("1")]]),
        ("SYSUTCDATETIME", vec![vec![Some("2"), Some("1")]]),
        ("OBJECT_ID(N'[dbo].[orders]')", vec![vec![Some("42"), Some("dbo"), Some("orders"), Some("U ")]]),
        (
            "c.is_hidden",
            vec![column("1", "id", "int", "4", "0", "0"), column("2", "since", "datetime2", "8", "0", "1")],
        ),
        ("key_ordinal", vec![vec![Some("1"), Some("1"), Some("1"), Some("0")]]),
        ("sys.partitions", vec![vec![Some("7")]]),
        ("security_predicates", vec![vec![Some("0")]]),
        (
            "SELECT TOP (0) t.[id] FROM [dbo].[orders] FOR SYSTEM_TIME AS OF '2026-01-31T12:00:00.0000000' AS t",
            Vec::new(),
        ),
    ]);
    let found = look(&mut ask, &stated).unwrap();
    // The period is hidden, and read only if it is named.
    assert_eq!(found.columns.iter().map(|c| c.column.name.as_str()).collect::<Vec<_>>(), ["id"]);
    assert_eq!((found.rows, found.key_indexed), (Some(7), true));
    let count = "SELECT COUNT_BIG(*) FROM [dbo].[orders] FOR SYSTEM_TIME AS OF '2026-01-31T12:00:00.0000000' AS t";
    assert_eq!(found.sql.count(), count);
}

#[test]
fn a_lease_holds_for_as_long_as_its_query_says() {
    let stated = |query: &str| parallel(TABLE, "write_exclusion", &format!("lease: l1, query: {query:?}"));
    let server =
        TdsServer::start("CREATE TABLE dbo.gate (closed bit, n int)\nGO\nINSERT INTO dbo.gate VALUES (1, 0)\n");
    let mut connection = connect(&server);
    let found = authority(&mut connection, &stated("select closed from dbo.gate; -- now")).unwrap();
    assert!(
        found.persistent && found.identity.starts_with("mssql-exclusion:") && found.identity.ends_with(":lease=l1")
    );
    assert_eq!(found.proof.as_deref(), Some("select closed from dbo.gate"));
    for query in [
        "select n from dbo.gate",
        "select closed from dbo.gate where n = 1",
        "select 1 as x union all select 1",
        "select closed from dbo.nothing",
    ] {
        assert_eq!(
            authority(&mut connection, &stated(query)).unwrap_err().code,
            Code::ConsistencyAuthorityMissing,
            "{query}"
        );
    }
    let two = authority(&mut connection, &stated("select 1; drop table dbo.gate")).unwrap_err();
    assert_eq!(two.code, Code::SourceQueryInvalid);
    assert!(authority(&mut connection, &stated("select closed from dbo.gate")).is_ok());
}

#[test]
fn a_statement_has_row_versions_where_the_database_keeps_them() {
    let of = request("table: {schema: dbo, name: t}", "{}");
    for (options, versions) in [(&["--snapshots"][..], true), (&[], false)] {
        let server = TdsServer::start_with("CREATE TABLE dbo.t (id int NOT NULL)\n", options);
        let mut connection = connect(&server);
        let found = authority(&mut connection, &of).unwrap();
        assert!(!found.persistent && found.proof.is_none() && found.database.is_none());
        assert_eq!(found.setup.iter().any(|statement| statement.contains("LEVEL SNAPSHOT")), versions);
        for statement in &found.setup {
            connection.execute(statement).unwrap();
        }
        let warned = look(&mut connection, &of).unwrap().warnings.iter().any(|text| text.contains("row versions"));
        assert_eq!(warned, !versions);
    }
}
