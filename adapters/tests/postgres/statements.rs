//! Statements, their answers and their errors.

use dpone_adapters::postgres::{PgErrorKind, Session, quote_ident, quote_literal};
use dpone_fixtures::postgres::Postgres;

use super::{config, session};

fn text(v: &str) -> Option<String> {
    Some(v.to_owned())
}

#[test]
fn answers() {
    let mut s = session();
    assert_eq!(s.query("select 1, null, ''; select 'ü'").unwrap(), [vec![text("1"), None, text("")], vec![text("ü")]]);
    assert_eq!(s.query("").unwrap(), Vec::<Vec<Option<String>>>::new());
    assert_eq!(s.execute("create table t(a int); insert into t select generate_series(1, 7)").unwrap(), 7);
    assert_eq!(s.execute("update t set a = a where a > 5").unwrap(), 2);
    assert_eq!(s.execute("select * from t").unwrap(), 7);
    assert_eq!(s.execute("begin").unwrap(), 0);
    let (name, value) = (r#"od"d '\ name"#, r"it's \ 'so'");
    let sql = format!("select {} as {}", quote_literal(value), quote_ident(name));
    assert_eq!(s.query(&sql).unwrap(), [[text(value)]]);
    assert_eq!(s.server_encoding(), "UTF8");
    assert!(s.server_version() >= 130_000, "{}", s.server_version());
    assert!(s.process() > 0);
}

#[test]
fn values_are_written_the_same_whatever_the_server_prefers() {
    let server = Postgres::shared();
    let name = server.database();
    server.psql(
        "postgres",
        &format!(
            "alter database {name} set DateStyle = 'SQL, DMY'; alter database {name} set TimeZone = 'Asia/Tokyo';
             alter database {name} set IntervalStyle = 'iso_8601'; alter database {name} set extra_float_digits = -5;
             alter database {name} set bytea_output = 'escape'; alter database {name} set statement_timeout = '100ms';
             alter database {name} set standard_conforming_strings = off"
        ),
    );
    let mut s = Session::connect(&config(&name, &[])).unwrap();
    let sql = r"select timestamptz '2020-02-03 04:05:06.7+00', interval '1 day 2 hours', 0.1::float8 + 0.2,
                '\x01ff'::bytea, 'a\b', pg_sleep(0.5) is null";
    let cells = ["2020-02-03 04:05:06.7+00", "1 day 02:00:00", "0.30000000000000004", "\\x01ff", "a\\b", "f"];
    assert_eq!(s.query(sql).unwrap(), [cells.map(text)]);
    let mut s = Session::connect(&config(&name, &[("OPTIONS", "-c statement_timeout=50 -c work_mem=1MB")])).unwrap();
    assert_eq!(s.query("show work_mem").unwrap(), [[text("1MB")]]);
    let error = s.query("select pg_sleep(600)").unwrap_err();
    assert_eq!((error.sqlstate(), error.transient()), (Some("57014"), true));
    assert!(s.is_ready());
}

#[test]
fn an_ascii_database_is_read_as_it_is() {
    let name = Postgres::shared().database_like("encoding 'SQL_ASCII' locale 'C' template template0");
    let mut s = Session::connect(&config(&name, &[])).unwrap();
    assert_eq!(s.server_encoding(), "SQL_ASCII");
    s.execute("create table t(a text)").unwrap();
    let mut copy = s.copy_in("copy t from stdin").unwrap();
    copy.send(b"\xff\xfe\n").unwrap();
    assert_eq!(copy.finish().unwrap(), 1);
    let mut copy = s.copy_out("copy t to stdout").unwrap();
    assert_eq!(copy.next_frame().unwrap(), Some(3));
    assert_eq!(copy.whole().unwrap(), Some(b"\xff\xfe\n".as_slice()));
    assert_eq!(copy.finish().unwrap(), 1);
}

#[test]
fn errors_leave_the_session_usable_and_show_no_value() {
    let mut s = session();
    s.execute("create table t(a int primary key, b text); insert into t values (1, 'hunter2')").unwrap();
    for (sql, state) in [
        ("select 'hunter2'::int", "22P02"),
        ("insert into t values (1, 'hunter2')", "23505"),
        ("select b::int from t", "22P02"),
        ("select hunter2 hunter2 hunter2", "42601"),
        ("do $$ begin raise exception 'hunter2'; end $$", "P0001"),
        ("select convert_from('\\x68756e74657232ff', 'UTF8')", "22021"),
        ("select * from missing", "42P01"),
        ("select 1; select 1/0; select 2", "22012"),
    ] {
        let error = s.query(sql).unwrap_err();
        assert_eq!(error.sqlstate(), Some(state), "{error}");
        assert!(!error.message.contains("hunter2") && !error.transient(), "{error}");
        assert!(s.is_ready());
    }
    assert!(s.query("select * from missing").unwrap_err().message.contains("\"missing\""));
    assert_eq!(s.query("select 2").unwrap(), [[text("2")]]);
    assert_eq!(s.query("select 'a\0b'").unwrap_err().kind, PgErrorKind::Protocol);
    assert_eq!(s.query("select 3").unwrap(), [[text("3")]]);
}

#[test]
fn an_answer_is_bounded() {
    let mut s = session();
    let error = s.query("select repeat('x', 1000000) from generate_series(1, 70)").unwrap_err();
    assert_eq!(error.kind, PgErrorKind::Protocol, "{error}");
    assert!(!s.is_ready());
    assert_eq!(s.query("select 1").unwrap_err().kind, PgErrorKind::Network);
}

#[test]
fn locks_are_waited_for_a_while_only() {
    let database = Postgres::shared().database();
    let mut holder = Session::connect(&config(&database, &[])).unwrap();
    holder.execute("create table t(a int)").unwrap();
    holder.execute("begin; lock table t").unwrap();
    let mut s = Session::connect(&config(&database, &[("LOCK_TIMEOUT", "1")])).unwrap();
    let error = s.query("select * from t").unwrap_err();
    assert_eq!((error.sqlstate(), error.transient()), (Some("55P03"), true), "{error}");
}
