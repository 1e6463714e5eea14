//! Ranges of every type of key: the server takes the literals, and each row lies in exactly one range.

use std::collections::BTreeMap;

use dpone_adapters::odbc_source::OdbcRequest;
use dpone_adapters::odbc_source::tsql::{key_facts, look};
use dpone_engine::codes::Code;
use dpone_engine::ranges::{Scope, plan_ranges_ordered, split_of};
use dpone_fixtures::tds::TdsServer;

use super::{codes, connect, request};

const ROWS: u64 = 2000;

fn keyed() -> String {
    format!(
        "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, b bigint, ti tinyint, d decimal(18,4), m money, dt date, dtm datetime,
          sdt smalldatetime, d2 datetime2(7), d20 datetime2(0), f float, nv nvarchar(40), v varchar(40), u uniqueidentifier,
          tm time(7), bt bit)
        GO
        INSERT INTO dbo.t SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE i * 7919 % 100003 - 50000 END, i % 256,
          CAST(i / 7.0 AS decimal(18,4)), CAST(i / 3.0 AS decimal(19,4)), CAST('2024-01-01' AS date) + CAST(i AS int),
          CAST('2024-01-01' AS datetime) + to_milliseconds(i * 1000 + 3), CAST('2024-01-01' AS datetime) + to_minutes(i),
          CAST('2024-01-01' AS datetime) + to_microseconds(i * 1000001), CAST('2024-01-01' AS datetime) + to_seconds(i),
          i / 3.0 - 100, CONCAT('näme ', i % 500), CONCAT('it''s ', i), uuid(), NULL, 1 FROM range({ROWS}) t(i)
        "
    )
}

fn ranged(column: &str, more: &str) -> OdbcRequest {
    let parallel = "{mode: required, reader_workers: 2, consistency: immutable}";
    let options = format!("{{partitioning: {{column: {column}, {more}, range_parallelism: {parallel}}}}}");
    request("table: {schema: dbo, name: t}", &options)
}

#[test]
fn every_row_lies_in_one_range_of_any_key() {
    let server = TdsServer::start(&keyed());
    let mut connection = connect(&server);
    let mut check = |column: &str, more: &str, least: usize| {
        let request = ranged(column, more);
        let resolved = look(&mut connection, &request).unwrap();
        let facts = key_facts(&mut connection, &resolved, &request.planner).unwrap();
        let key = resolved.key.as_ref().unwrap();
        let split = split_of(&request.ranges, &key.column, &facts).unwrap();
        let units = plan_ranges_ordered(Some(&key.column), &split, facts.uuid_order).unwrap();
        assert!(units.len() >= least, "{column}: {} ranges", units.len());
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for unit in &units {
            let rows = connection.query(&resolved.sql.rows(&["t.[id]"], &unit.scope)).unwrap();
            // Ranges that the planner found hold some rows each.
            assert!(!rows.is_empty() || matches!(unit.scope, Scope::Null), "{column}: {unit:?}");
            for row in rows {
                *seen.entry(row[0].clone().unwrap()).or_default() += 1;
            }
        }
        assert_eq!(seen.len() as u64, ROWS, "{column}");
        assert!(seen.values().all(|times| *times == 1), "{column}");
    };
    for column in ["id", "b", "ti", "d", "m", "dt", "dtm", "sdt", "d2", "d20", "f", "nv", "v"] {
        check(column, "num_partitions: 7", 7);
    }
    // Stated bounds, whose ranges must fit each other whatever ends they include.
    check("id", "bounds: {lower: 100, upper: 1900}, num_partitions: 3", 3);
    let datetimes = "{upper: '2024-01-01T00:10:00.003'}, {lower: '2024-01-01T00:10:00.003', upper: '2024-01-01T00:20:00.003', \
                     include_lower: true, include_upper: true}, {lower: '2024-01-01T00:20:00.003', include_lower: false}";
    check("dtm", &format!("ranges: [{datetimes}]"), 3);
    check("d", "ranges: [{upper: 10.5}, {lower: 10.5, upper: 142.8571}, {lower: 142.8571}]", 3);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let server = TdsServer::start(&keyed());
    let mut connection = connect(&server);
    for column in ["tm", "bt"] {
        let resolved = look(&mut connection, &ranged(column, "num_partitions: 4")).unwrap();
        assert_eq!(resolved.key_refused.unwrap().code, Code::UnsupportedBoundaryType, "{column}");
    }
    assert_eq!(codes(look(&mut connection, &ranged("idd", "num_partitions: 4"))), [Code::SourceColumnNotFound]);
    // .001 seconds is no datetime, and half a minute no smalldatetime.
    for (column, bound) in
        [("dtm", "2024-01-01T00:10:00.001"), ("sdt", "2024-01-01T00:10:30"), ("dtm", "1752-12-31T00:00:00")]
    {
        let ranges = format!("ranges: [{{upper: '{bound}'}}, {{lower: '{bound}'}}]");
        assert_eq!(codes(look(&mut connection, &ranged(column, &ranges))), [Code::RangeInvalid], "{column} {bound}");
    }
    // The test server sorts uniqueidentifier by its bytes; that it does is noticed before any row is read.
    let request = ranged("u", "num_partitions: 4");
    let resolved = look(&mut connection, &request).unwrap();
    let refused = key_facts(&mut connection, &resolved, &request.planner).unwrap_err();
    assert_eq!(refused.code, Code::UnsupportedBoundaryType);
    // It has no statistics either, so `auto` counts keys, and who asks for statistics is told that there are none.
    let request = ranged("nv", "planner: {mode: statistics}, num_partitions: 4");
    let resolved = look(&mut connection, &request).unwrap();
    let refused = key_facts(&mut connection, &resolved, &request.planner).unwrap_err();
    assert_eq!(refused.code, Code::SourceStatsLowConfidence);
}

#[test]
fn an_index_that_the_key_leads_is_known() {
    let server = TdsServer::start(&format!("{}GO\nCREATE INDEX aside ON dbo.t (b, d)\n", keyed()));
    let mut connection = connect(&server);
    let mut check = |column: &str, indexed: bool, warned: bool| {
        let found = look(&mut connection, &ranged(column, "num_partitions: 4")).unwrap();
        assert_eq!(found.key_indexed, indexed, "{column}");
        assert_eq!(found.warnings.iter().any(|text| text.contains("clustered")), warned, "{column}");
    };
    check("id", true, false);
    check("b", true, true);
    check("d", false, false);
}
