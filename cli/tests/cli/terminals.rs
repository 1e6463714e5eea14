//! What a terminal shows: lines that end between words, and commands that can be copied.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::world::World;

/// What a command shows on a terminal of that many columns, and its exit code.
fn shown(world: &World, columns: u16, arguments: &[&str]) -> (String, Option<i32>) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    let side = File::from(ioctl_tiocgptpeer(&terminal, flags).unwrap());
    let err = side.try_clone().unwrap();
    let mut command = world.command(arguments);
    let mut child = command.stdin(Stdio::null()).stdout(side).stderr(err).spawn().unwrap();
    // It ends when nobody has the other side open any more.
    drop(command);
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    let mut terminal = File::from(terminal);
    while let Ok(length @ 1..) = terminal.read(&mut part) {
        bytes.extend_from_slice(&part[..length]);
    }
    (String::from_utf8(bytes).unwrap().replace("\r\n", "\n"), child.wait().unwrap().code())
}

#[test]
fn lines_end_between_words() {
    let world = World::new(10);
    world.run(&["run", "m.yaml", "--run-id", "first"]).with(0, "");
    world.manifest(&[("mode: full_refresh", "mode: merge")]);
    let cases: [(&[&str], i32, &str); 5] = [
        (&["runs", "show", "first"], 0, "dpone journal inspect first\n"),
        (&["explain", "target_claimed_elsewhere"], 0, "dpone claim release MANIFEST --run RUN --journal-is-gone\n"),
        (&["explain"], 0, "run_unsettled"),
        (&["run", "m.yaml", "--color", "never"], 2, "see: dpone explain strategy_key_missing\n"),
        (&["runs", "show", "none", "--color", "never"], 2, "error[run_not_found]"),
    ];
    for (arguments, code, copied) in cases {
        let said = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for columns in [60, 80] {
            let (text, ended) = shown(&world, columns, arguments);
            assert_eq!(ended, Some(code), "{text}");
            assert!(text.contains(copied), "{copied:?} in {text:?}");
            let piped = world.run(arguments);
            assert_eq!(said(&text), said(&[piped.out, piped.err].concat()), "every word is there, and no other");
            for line in text.lines().filter(|line| line.chars().count() > usize::from(columns)) {
                let whole = line.trim_start();
                let columnar = whole.contains("  ") || whole.contains('|') || whole.starts_with('#');
                let apart: String = whole.split('`').step_by(2).collect();
                assert!(columnar || !apart.trim().contains(' '), "a line of {columns} columns: {line}");
            }
        }
    }
}

/// What a program reads is as it is, wherever it goes.
#[test]
fn what_is_not_for_people_is_not_broken() {
    let world = World::new(10);
    for arguments in [
        &["schema", "manifest"][..],
        &["completions", "bash"],
        &["explain", "--format", "json"],
        &["explain", "run_unsettled", "--format", "md"],
        &["plan", "m.yaml", "--format", "md"],
    ] {
        let text = world.run(arguments).with(0, "").out;
        // The key of hashes differs each time before there is a journal.
        let lines =
            |text: &str| text.lines().filter(|l| !l.contains("fingerprint")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&shown(&world, 40, arguments).0), lines(&text), "{arguments:?}");
    }
}
