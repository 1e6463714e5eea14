//! A server that says nothing: at work, or not there any more.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dpone_adapters::postgres::{PgErrorKind, Session};
use dpone_fixtures::postgres::Postgres;

use super::config;

/// Passes bytes on until it is told to swallow those of the server: a cut without a word.
fn swallowing_proxy(to: u16, swallow: &Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let swallow = Arc::clone(swallow);
    thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let (from, into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let never = Arc::new(AtomicBool::new(false));
            thread::spawn(move || pass(from, into, &never));
            let swallow = Arc::clone(&swallow);
            thread::spawn(move || pass(server, client, &swallow));
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, swallow: &AtomicBool) {
    let mut room = [0; 4096];
    while let Ok(count) = from.read(&mut room) {
        if count == 0 || !swallow.load(Ordering::SeqCst) && to.write_all(&room[..count]).is_err() {
            return;
        }
    }
}

#[test]
fn a_long_statement_is_waited_for() {
    let mut s = Session::connect(&config("postgres", &[("READ_TIMEOUT", "1")])).unwrap();
    assert_eq!(s.query("select pg_sleep(2.5) is null").unwrap(), [[Some("f".to_owned())]]);
}

#[test]
fn a_cut_without_a_word_is_noticed() {
    let swallow = Arc::new(AtomicBool::new(false));
    let port = swallowing_proxy(Postgres::shared().port(), &swallow).to_string();
    let mut config = config("postgres", &[("READ_TIMEOUT", "1")]);
    config.port = port.parse().unwrap();
    let mut s = Session::connect(&config).unwrap();
    let mut copy = s.copy_out("copy (select repeat('x', 1000) from generate_series(1, 100000)) to stdout").unwrap();
    assert!(copy.next_frame().unwrap().is_some());
    swallow.store(true, Ordering::SeqCst);
    let error = copy.finish().unwrap_err();
    assert_eq!((error.kind.clone(), error.transient()), (PgErrorKind::Deadline, true), "{error}");
    assert!(!s.is_ready());
}
