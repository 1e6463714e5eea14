//! What can stand between: a connection that breaks at a commit, and a pooler.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Which way the commit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The server never hears of it.
    Request,
    /// The server commits, and its answer is lost.
    Answer,
}

/// Passes connections on to a server, and cuts the one that carries the `nth` commit from now on, counted from 1. The port.
pub(super) fn cut_at_commit(server: u16, lost: Lost, nth: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let left = Arc::new(AtomicUsize::new(nth));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(("127.0.0.1", server)).unwrap());
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || pass(&back.0, &back.1));
            let left = Arc::clone(&left);
            thread::spawn(move || forward(client, server, lost, &left));
        }
    });
    port
}

fn forward(mut client: TcpStream, mut server: TcpStream, lost: Lost, left: &AtomicUsize) {
    let mut room = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut room) {
        let commits = room[..count].windows(7).any(|w| w == b"COMMIT\0");
        if commits && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)) == Ok(1) {
            // What the server answers from here on is not passed on.
            let _ = client.shutdown(Shutdown::Both);
            if lost == Lost::Answer {
                let _ = server.write_all(&room[..count]);
            }
            break;
        }
        if server.write_all(&room[..count]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    let mut room = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut room) {
        if to.write_all(&room[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Passes connections on to a server and tells each another process than the one that it has, as a pooler does. The port.
pub(super) fn pooler(server: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(("127.0.0.1", server)).unwrap());
            let (up, down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(&up, &down));
            thread::spawn(move || {
                greet(&server, &client);
                pass(&server, &client);
            });
        }
    });
    port
}

/// Passes messages on up to the one with the process, whose number is changed.
fn greet(mut server: &TcpStream, mut client: &TcpStream) {
    let mut head = [0; 5];
    while server.read_exact(&mut head).is_ok() {
        let mut body = vec![0; u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4];
        server.read_exact(&mut body).unwrap();
        if head[0] == b'K' {
            body[3] ^= 1;
        }
        client.write_all(&[&head[..], &body].concat()).unwrap();
        if head[0] == b'K' {
            return;
        }
    }
}
