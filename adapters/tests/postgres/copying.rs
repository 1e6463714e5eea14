//! COPY in both directions, whole and interrupted.

use dpone_adapters::postgres::{PgErrorKind, Session};
use dpone_fixtures::postgres::Postgres;

use super::{config, session};

#[test]
fn bytes_come_back_as_they_went() {
    let mut s = session();
    s.execute("create table t(a text)").unwrap();
    let lines: Vec<String> = (0..3000).map(|i| format!("{i}{}\n", "x".repeat(i * 7 % 9000))).collect();
    let all = lines.concat();
    let mut expect = lines.clone();
    expect.sort();
    // Parts that are smaller and larger than a frame, and cut lines anywhere.
    for size in [1000, 70_000, 3 << 20] {
        let mut copy = s.copy_in("copy t from stdin").unwrap();
        for part in all.as_bytes().chunks(size) {
            copy.send(part).unwrap();
        }
        assert_eq!(copy.finish().unwrap(), 3000);
        let mut copy = s.copy_out("copy t to stdout").unwrap();
        let mut got: Vec<Vec<u8>> = Vec::new();
        while let Some(length) = copy.next_frame().unwrap() {
            let mut line = vec![0; length as usize];
            if got.len().is_multiple_of(3) {
                copy.read_exact(&mut line).unwrap();
            } else {
                line = copy.whole().unwrap().unwrap().to_vec();
            }
            assert_eq!((line.len(), copy.remaining()), (length as usize, 0));
            got.push(line);
        }
        assert_eq!((copy.rows(), got.len()), (Some(3000), 3000));
        // The server puts rows where there is room.
        got.sort();
        assert!(got.iter().eq(expect.iter().map(|line| line.as_bytes())));
        assert!(s.is_ready());
        s.execute("truncate t").unwrap();
    }
}

#[test]
fn what_ends_a_copy_early() {
    let mut s = session();
    s.execute("create table t(a int)").unwrap();
    let mut copy = s.copy_in("copy t from stdin").unwrap();
    copy.send(b"1\nhunter2\n").unwrap();
    let error = copy.finish().unwrap_err();
    assert_eq!(error.sqlstate(), Some("22P02"));
    assert!(!error.message.contains("hunter2"), "{error}");
    let mut copy = s.copy_in("copy t from stdin").unwrap();
    copy.send(b"1\n2\n").unwrap();
    copy.abort("the reader failed").unwrap();
    assert_eq!(s.query("select count(*) from t").unwrap(), [[Some("0".to_owned())]]);
    let mut copy = s.copy_out("copy (select 1 / (3 - a) from generate_series(1, 5) a) to stdout").unwrap();
    let error = loop {
        match copy.next_frame() {
            Ok(frame) => assert!(frame.is_some()),
            Err(error) => break error,
        }
    };
    assert_eq!(error.sqlstate(), Some("22012"));
    for sql in ["select 1", "copy t to stdout"] {
        assert!(s.is_ready());
        let error = s.copy_in(sql).err().unwrap();
        assert_eq!((error.kind, s.is_ready()), (PgErrorKind::Protocol, false));
        s = session();
        s.execute("create table t(a int)").unwrap();
    }
    let _ = s.copy_out("copy (select * from generate_series(1, 1000000)) to stdout").unwrap();
    assert_eq!(s.query("select 1").unwrap_err().kind, PgErrorKind::Protocol);
    assert!(!s.is_ready());
}

/// Starts a COPY that is longer than every buffer between, and reads some of it.
fn interrupted(
    stop: impl FnOnce(&Session) -> Box<dyn FnOnce()>,
) -> (Result<u64, dpone_adapters::postgres::PgError>, bool) {
    let mut s = session();
    let stop = stop(&s);
    let mut copy = s.copy_out("copy (select repeat('x', 1000) from generate_series(1, 1000000)) to stdout").unwrap();
    for _ in 0..10 {
        assert_eq!(copy.next_frame().unwrap(), Some(1001));
    }
    stop();
    let answer = copy.finish();
    (answer, s.is_ready())
}

#[test]
fn cancelled() {
    let (answer, ready) = interrupted(|s| {
        let canceller = s.canceller();
        Box::new(move || canceller.cancel().unwrap())
    });
    assert_eq!((answer.unwrap_err().kind, ready), (PgErrorKind::Cancelled, true));
}

#[test]
fn cut() {
    let (answer, ready) = interrupted(|s| {
        let canceller = s.canceller();
        Box::new(move || canceller.cut())
    });
    assert_eq!((answer.unwrap_err().kind, ready), (PgErrorKind::Cancelled, false));
}

#[test]
fn terminated_by_the_server() {
    let (answer, ready) = interrupted(|s| {
        let process = s.process();
        Box::new(move || {
            Postgres::shared().psql("postgres", &format!("select pg_terminate_backend({process})"));
        })
    });
    let error = answer.unwrap_err();
    assert!(error.transient() && !ready, "{error}");
}

#[test]
fn a_frame_is_announced_before_it_is_read() {
    let mut s = session();
    let mut copy = s.copy_out("copy (select repeat('x', 400000000)) to stdout").unwrap();
    let length = copy.next_frame().unwrap().unwrap();
    assert_eq!(length, 400_000_001);
    assert!(copy.whole().unwrap().is_none());
    // Read in parts, in whatever room there is.
    let (mut room, mut read) = (vec![0; 1 << 20], 0_u64);
    loop {
        let count = copy.read(&mut room).unwrap();
        if count == 0 {
            break;
        }
        read += count as u64;
        assert!(room[..count].iter().all(|b| matches!(b, b'x' | b'\n')));
    }
    assert_eq!((read, copy.remaining()), (u64::from(length), 0));
    assert_eq!(copy.finish().unwrap(), 1);
    let mut other = Session::connect(&config("postgres", &[])).unwrap();
    assert_eq!(other.execute("select 1").unwrap(), 1);
}
