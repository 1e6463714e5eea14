//! Every type, at its ends: exact, or refused with the column's name and never a value.

use dpone_engine::codes::Code;
use dpone_engine::schema::LogicalType;

use super::support::{Db, with_type};

#[test]
fn the_ends_of_every_type() {
    // Declared type, value, what Parquet holds.
    let cases: &[(&str, &str, &str)] = &[
        ("boolean", "true", "true"),
        ("smallint", "-32768", "-32768"),
        ("integer", "2147483647", "2147483647"),
        ("bigint", "-9223372036854775808", "-9223372036854775808"),
        ("oid", "4294967295", "4294967295"),
        ("real", "'-0'", "-0.0"),
        ("real", "'NaN'", "NaN"),
        ("real", "1e-45", "1e-45"),
        ("double precision", "'-Infinity'", "-inf"),
        ("double precision", "5e-324", "5e-324"),
        ("double precision", "1.7976931348623157e308", "1.7976931348623157e308"),
        ("numeric(38,10)", "-9999999999999999999999999999.9999999999", "-99999999999999999999999999999999999999e-10"),
        ("numeric(38,0)", "99999999999999999999999999999999999999", "99999999999999999999999999999999999999e-0"),
        (
            "numeric(76,10)",
            "-999999999999999999999999999999999999999999999999999999999999999999.9999999999",
            "-9999999999999999999999999999999999999999999999999999999999999999999999999999e-10",
        ),
        (
            "numeric(76,76)",
            "0.9999999999999999999999999999999999999999999999999999999999999999999999999999",
            "9999999999999999999999999999999999999999999999999999999999999999999999999999e-76",
        ),
        ("numeric(39,0)", "0", "0e-0"),
        ("numeric(39,2)", "-0.01", "-1e-2"),
        ("numeric(12,2)", "0.10", "10e-2"),
        ("numeric(5,5)", "0.00001", "1e-5"),
        ("money", "'-92233720368547758.08'", "-9223372036854775808e-2"),
        ("date", "'0001-01-01'", "day -719162"),
        ("date", "'9999-12-31'", "day 2932896"),
        ("time", "'23:59:59.999999'", "86399999999us"),
        ("time(0)", "'12:00:01'", "43201000000us"),
        ("timestamp", "'0001-01-01 00:00:00'", "-62135596800000000us"),
        ("timestamp(3)", "'1969-12-31 23:59:59.999'", "-1000us"),
        ("timestamptz", "'9999-12-31 23:59:59.999999+00'", "253402300799999999usUTC"),
        ("timestamptz", "'1970-01-01 02:00:00+02'", "0usUTC"),
        (
            "uuid",
            "'00112233-4455-6677-8899-aabbccddeeff'",
            "[00, 11, 22, 33, 44, 55, 66, 77, 88, 99, aa, bb, cc, dd, ee, ff]",
        ),
        ("bytea", r"'\x00ff27'", "[00, ff, 27]"),
        ("bytea", "''", "[]"),
        ("text", "''", r#""""#),
        ("text", "U&'\\+01F600 \\FEFF'", "\"😀 \\u{feff}\""),
        ("varchar(5)", "'a b  '", r#""a b  ""#),
        ("char(4)", "'a'", r#""a   ""#),
        ("name", "'n'", r#""n""#),
        ("json", r#"'{"a": 1, "a":2}'"#, r#""{\"a\": 1, \"a\":2}""#),
        ("jsonb", r#"'{"b":1.0,"a":null}'"#, r#""{\"a\": null, \"b\": 1.0}""#),
        ("bit(5)", "B'00101'", r#""00101""#),
        ("bit varying", "B''", r#""""#),
        ("inet", "'10.0.0.1/8'", r#""10.0.0.1/8""#),
        ("macaddr", "'08:00:2b:01:02:03'", r#""08:00:2b:01:02:03""#),
        ("xml", "'<a>&lt;</a>'", r#""<a>&lt;</a>""#),
        ("mood", "'so so'", r#""so so""#),
        ("positive", "7", "7"),
        ("integer[]", "'{1,NULL,3}'", r#""[1,null,3]""#),
    ];
    let columns: Vec<String> = cases.iter().enumerate().map(|(i, (ty, ..))| format!("c{i} {ty}")).collect();
    let values: Vec<&str> = cases.iter().map(|(_, value, _)| *value).collect();
    let nulls = vec!["null"; cases.len()];
    let db = Db::new(&format!(
        "create type mood as enum ('so so'); create domain positive as int check (value > 0);
         create table t({}); insert into t values ({}); insert into t values ({})",
        columns.join(", "),
        values.join(", "),
        nulls.join(", ")
    ));
    let rows = db.rows(&db.table("t")).unwrap();
    assert_eq!(rows.len(), 2);
    for (((ty, value, expect), found), null) in cases.iter().zip(&rows[0]).zip(&rows[1]) {
        assert_eq!((found.as_str(), null.as_str()), (*expect, "NULL"), "{ty} {value}");
    }
}

#[test]
fn what_has_no_exact_form_is_refused() {
    let decimal = LogicalType::Decimal { precision: 12, scale: 2 };
    let db = Db::new("");
    let check = |ty: &str, values: &str, stated: Option<LogicalType>, code: Code, count: &str| {
        db.psql(&format!(
            "drop table if exists t; create table t(id int, c {ty}); insert into t values (1, null), {values}"
        ));
        let mut request = db.table("t");
        if let Some(ty) = stated {
            request = with_type(request, "c", ty);
        }
        let why = db.rows(&request).unwrap_err();
        assert_eq!((why.code, why.transient), (code, false), "{}", why.detail);
        let said = format!("column \"c\": {count}");
        assert!(why.detail.contains(&said) && why.detail.contains("row 2 of the range"), "{}", why.detail);
        assert!(!why.detail.contains("6543"), "{}", why.detail);
    };
    check("numeric(12,2)", "(2, 'NaN'), (3, 1), (4, 'NaN')", None, Code::DecimalNotFinite, "2 values are");
    check("numeric", "(2, 6543.211)", Some(decimal.clone()), Code::DecimalScaleOverflow, "1 value is");
    check("numeric", "(2, 65430000000.1)", Some(decimal.clone()), Code::DecimalOverflow, "1 value is");
    let wide = LogicalType::Decimal { precision: 76, scale: 10 };
    check("numeric", "(2, 6543e63)", Some(wide.clone()), Code::DecimalOverflow, "1 value is");
    check("numeric", "(2, 6543e-11), (3, 6543e62)", Some(wide.clone()), Code::DecimalScaleOverflow, "1 value is");
    check("numeric(76,10)", "(2, 'NaN')", Some(wide), Code::DecimalNotFinite, "1 value is");
    check("numeric", "(2, '-Infinity')", Some(decimal), Code::DecimalNotFinite, "1 value is");
    for ty in ["date", "timestamp", "timestamptz"] {
        for value in ["infinity", "-infinity", "10000-01-01", "0001-12-31 BC"] {
            check(ty, &format!("(2, '{value}')"), None, Code::DateOutOfRange, "1 value is");
        }
    }
    check("time", "(2, '24:00:00')", None, Code::SourceValueTypeMismatch, "1 value is");
    let digits = LogicalType::Timestamp { digits: 0, utc: false };
    check("timestamp", "(2, '2020-01-01 00:00:00.6543')", Some(digits), Code::SourceValueTypeMismatch, "1 value is");
}

#[test]
fn a_database_without_an_encoding() {
    let ascii = "encoding 'SQL_ASCII' locale 'C' template template0";
    let db = Db::like(ascii, r"create table t(id int, c text); insert into t values (1, 'ä')");
    assert_eq!(db.rows(&db.table("t")).unwrap(), [["1", "\"ä\""]]);
    db.psql(r"insert into t values (2, E'hunter2\xff')");
    let why = db.rows(&db.table("t")).unwrap_err();
    assert_eq!(why.code, Code::InvalidTextEncoding);
    assert!(why.detail.contains("\"c\"") && !why.detail.contains("hunter2"), "{}", why.detail);
}

#[test]
fn no_rows_no_columns_wide_rows() {
    let db = Db::new("create table t(a int, b text)");
    assert_eq!(db.rows(&db.table("t")).unwrap(), Vec::<Vec<String>>::new());
    let columns: Vec<String> = (0..1500).map(|i| format!("c{i} int")).collect();
    let values: Vec<String> = (0..1500).map(|i| i.to_string()).collect();
    db.psql(&format!("create table w({}); insert into w values ({})", columns.join(","), values.join(",")));
    let request = db.table("w");
    let facts = db.facts(&request);
    let read = db.read(super::support::plan(&request, &facts, super::support::whole()), 64 << 20).unwrap().remove(0);
    assert_eq!(read.rows, [values]);
}
