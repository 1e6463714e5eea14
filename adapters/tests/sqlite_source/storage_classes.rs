//! Cells by their storage class: exact, or an error that names column and row.

use dpone_adapters::sqlite_source::describe;
use dpone_engine::codes::Code;
use dpone_engine::schema::LogicalType;

use super::support::{Db, read_whole, with_key, with_type};

const L17: &str = "create table l17(id integer primary key, i integer, big bigint, r real, t text, dec decimal(20,4), dt date, b blob);
insert into l17 values (1,1,9223372036854775807,1.5,'a','1.5000','2024-01-01',x'00ff'),
(2,'abc','99999999999999999999','xyz',x'ff00','12345678901234567890.1234','0000-00-00','text'),
(3,12345678901,-1,9e999,'a'||char(0)||'b',1.23456789,'31/12/2024',null),
(4,2.7,null,null,cast(x'e9' as text),null,20240101,'');";

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|c| (*c).to_owned()).collect()
}

#[test]
fn the_first_row_is_exact() {
    let db = Db::new(&format!("{L17} delete from l17 where id > 1;"));
    let rows = read_whole(&db.table("l17")).unwrap();
    let expect = row(&["1", "1", "9223372036854775807", "1.5", "\"a\"", "15000e-4", "day 19723", "[00, ff]"]);
    assert_eq!(rows, [expect]);
}

/// The failure of one column of `l17`.
fn fails(column: &str, code: Code, parts: &[&str]) {
    let db = Db::new(L17);
    let mut request = db.table("l17");
    request.columns = Some(vec!["id".into(), column.into()]);
    let why = read_whole(&request).unwrap_err();
    assert_eq!(why.code, code, "{why:?}");
    assert!(!why.transient);
    for part in parts.iter().chain(&[column]) {
        assert!(why.detail.contains(part), "{} lacks {part}", why.detail);
    }
    for value in ["abc", "9999999999", "xyz", "12345678901", "31/12", "2.7"] {
        assert!(!why.detail.contains(value), "{} shows {value}", why.detail);
    }
}

#[test]
fn cells_of_another_class_are_counted_and_named() {
    let mismatch = Code::SourceValueTypeMismatch;
    fails("i", mismatch, &["2 cells are not int64", "rowid 2 (a text)"]);
    fails("big", mismatch, &["1 cell is not int64", "rowid 2 (a real)"]);
    fails("r", mismatch, &["1 cell is not float64", "rowid 2 (a text)"]);
    fails("t", mismatch, &["2 cells are not text", "rowid 2 (a blob)"]);
    fails("dec", mismatch, &["2 cells are not decimal(20,4)", "rowid 2 (a real"]);
    fails("dt", mismatch, &["3 cells are not date", "rowid 2 (a text that is not a date)"]);
    fails("b", mismatch, &["2 cells are not binary", "rowid 2 (a text)"]);
}

#[test]
fn moments_that_nanoseconds_do_not_reach_are_named_and_foretold() {
    for (digits, last) in [(7, "9999-12-31 00:00:00"), (8, "0001-01-01 00:00:00"), (9, "2262-04-11 23:47:16.854775808")]
    {
        let db = Db::new(&format!(
            "create table t(id integer primary key, at timestamp({digits}));
             insert into t values (1, '2262-04-11 23:47:16.8'), (2, '{last}');"
        ));
        let why = read_whole(&db.table("t")).unwrap_err();
        assert_eq!(why.code, Code::SourceValueTypeMismatch, "{why:?}");
        for part in ["column \"at\"", "rowid 2", "outside the range"] {
            assert!(why.detail.contains(part), "{} lacks {part}", why.detail);
        }
        let warnings = describe(&db.table("t")).unwrap().warnings;
        assert!(warnings.iter().any(|w| w.contains("\"at\"") && w.contains("2262-04-11")), "{warnings:?}");
    }
    let db = Db::new("create table t(at timestamp(6)); insert into t values ('9999-12-31 23:59:59.999999');");
    assert!(describe(&db.table("t")).unwrap().warnings.is_empty() && read_whole(&db.table("t")).is_ok());
}

#[test]
fn counting_what_is_bad_ends_long_before_a_large_unit_does() {
    for (rows, expect) in [(10_000, "10000 cells are not int64"), (30_000, "at least 10001 cells are not int64")] {
        for without in ["", " without rowid"] {
            let db = Db::new(&format!(
                "create table t(id integer primary key, i integer){without};
                 with recursive n(n) as (select 1 union all select n + 1 from n where n < {rows})
                 insert into t select n, 'x' from n;"
            ));
            let why = read_whole(&db.table("t")).unwrap_err();
            assert!(why.detail.contains(expect), "{}", why.detail);
            assert_eq!(why.detail.contains("at least"), rows > 10_000, "{}", why.detail);
        }
    }
}

#[test]
fn all_columns_of_a_row_are_named_together() {
    let db = Db::new(L17);
    let why = read_whole(&db.table("l17")).unwrap_err();
    for column in ["i", "big", "r", "t", "dec", "dt", "b"] {
        assert!(why.detail.contains(&format!("column \"{column}\"")), "{}", why.detail);
    }
}

#[test]
fn text_that_is_not_utf8_has_a_code_of_its_own() {
    for bytes in ["e9", "fffe", "eda080", "c0af", "f4908080"] {
        let db = Db::new(&format!(
            "create table t(id integer primary key, s text); insert into t values (5, 'ok'), (9, cast(x'{bytes}' as text));"
        ));
        let why = read_whole(&db.table("t")).unwrap_err();
        assert_eq!(why.code, Code::InvalidTextEncoding);
        assert!(why.detail.contains("\"s\"") && why.detail.contains("rowid 9"), "{}", why.detail);
        let raw = with_type(db.table("t"), "s", LogicalType::Binary);
        assert_eq!(read_whole(&raw).unwrap().len(), 2);
    }
}

#[test]
fn a_stated_string_delivers_every_number_as_its_exact_text() {
    let db = Db::new(L17);
    let mut request = with_type(db.table("l17"), "i", LogicalType::Text);
    request = with_type(request, "big", LogicalType::Text);
    request = with_type(request, "r", LogicalType::Text);
    request.columns = Some(["i", "big", "r"].map(String::from).into());
    let expect = [
        row(&["\"1\"", "\"9223372036854775807\"", "\"1.5\""]),
        row(&["\"abc\"", "\"1e20\"", "\"xyz\""]),
        row(&["\"12345678901\"", "\"-1\"", "\"Infinity\""]),
        row(&["\"2.7\"", "NULL", "NULL"]),
    ];
    assert_eq!(read_whole(&request).unwrap(), expect);
}

#[test]
fn a_range_column_with_a_foreign_extreme_is_refused() {
    let db = Db::new(L17);
    for (column, found) in [("i", "a text"), ("dt", "an integer"), ("big", "a real")] {
        let refusals = describe(&with_key(db.table("l17"), column)).unwrap_err();
        assert_eq!(refusals[0].code, Code::SourceValueTypeMismatch);
        assert!(refusals[0].message.contains(column) && refusals[0].message.contains(found), "{refusals:?}");
    }
}

#[test]
fn unusual_values_come_through() {
    let db = Db::new(
        "create table t(s text, r real, f float, b boolean, ts datetime, tm time, u uuid, d3 decimal(38,20));
         insert into t values ('a'||char(0)||'b', 9e999, -0.0, 1, '2024-01-01T00:00:00.123456', '23:59:59', '15FB045F-DB6A-269D-6473-023F3C936FCF', 0.00000000000000000001);
         insert into t values (char(128512), -9e999, 1e308, 0, '0001-01-01 00:00:00', '00:00:00.5', x'000102030405060708090a0b0c0d0e0f', 5);
         insert into t values ('', 5e-324, 3, null, null, null, null, null);",
    );
    let rows = read_whole(&db.table("t")).unwrap();
    let uuid = "[15, fb, 04, 5f, db, 6a, 26, 9d, 64, 73, 02, 3f, 3c, 93, 6f, cf]";
    let other = "[00, 01, 02, 03, 04, 05, 06, 07, 08, 09, 0a, 0b, 0c, 0d, 0e, 0f]";
    let expect = [
        row(&["\"a\\0b\"", "inf", "0.0", "true", "1704067200123456us", "86399000000us", uuid, "1e-20"]),
        row(&[
            "\"😀\"",
            "-inf",
            "1e308",
            "false",
            "-62135596800000000us",
            "500000us",
            other,
            "500000000000000000000e-20",
        ]),
        row(&["\"\"", "5e-324", "3.0", "NULL", "NULL", "NULL", "NULL", "NULL"]),
    ];
    assert_eq!(rows, expect);
}

#[test]
fn null_in_a_column_that_does_not_allow_it_is_found() {
    let db = Db::new("create table t(id integer primary key, n integer not null); insert into t values (1, 1);");
    // What a damaged or hand-edited schema looks like.
    let connection = db.connection();
    connection
        .execute_batch(
            "pragma writable_schema = on;
             update sqlite_schema set sql = 'create table t(id integer primary key, n integer)' where name = 't';
             pragma writable_schema = reset; insert into t values (2, null); pragma writable_schema = on;
             update sqlite_schema set sql = 'create table t(id integer primary key, n integer not null)' where name = 't';",
        )
        .unwrap();
    drop(connection);
    let why = read_whole(&db.table("t")).unwrap_err();
    assert_eq!(why.code, Code::SourceValueTypeMismatch);
    assert!(why.detail.contains("rowid 2") && why.detail.contains("NULL"), "{}", why.detail);
}

#[test]
fn text_that_is_stored_as_utf16_is_exact_or_refused() {
    for encoding in ["UTF-16le", "UTF-16be"] {
        let db = Db::new(&format!(
            "pragma encoding = '{encoding}'; create table t(id integer primary key, s text, b blob, d date, i integer);
             insert into t values (1, 'a'||char(0)||'é'||char(128512), x'00d8', '2024-01-01', 5), (2, null, null, null, null),
               (3, printf('%.*c', 300000, 'x'), x'', '2024-01-02', 6);"
        ));
        let request = with_type(db.table("t"), "i", LogicalType::Text);
        let rows = read_whole(&request).unwrap();
        assert_eq!(rows[0], row(&["1", "\"a\\0é😀\"", "[00, d8]", "day 19723", "\"5\""]));
        assert_eq!(rows[1], row(&["2", "NULL", "NULL", "NULL", "NULL"]));
        assert_eq!((rows[2][1].len(), rows[2][2].as_str()), (300_002, "[]"));
        // A lone surrogate, in either half, at the end and before another character.
        let lone: &[&str] = if encoding == "UTF-16le" {
            &["78003cd8", "3cd87800", "00dc7800"]
        } else {
            &["0078d83c", "d83c0078", "dc000078"]
        };
        for bytes in lone {
            db.connection().execute_batch(&format!("update t set s = cast(x'{bytes}' as text) where id = 1")).unwrap();
            let why = read_whole(&db.table("t")).unwrap_err();
            assert_eq!(why.code, Code::InvalidTextEncoding, "{bytes}");
            assert!(why.detail.contains("\"s\"") && why.detail.contains("rowid 1"), "{}", why.detail);
        }
        db.connection().execute_batch("update t set s = x'41' where id = 1").unwrap();
        assert_eq!(read_whole(&db.table("t")).unwrap_err().code, Code::SourceValueTypeMismatch);
    }
}
