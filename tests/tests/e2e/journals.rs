//! Journals that are locked, damaged, incomplete, read-only or somewhere else: a code, the target right, and never a start
//! as if there were no run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use dpone_engine::run::effect::EffectKind::{Drop, Load, Publish, Put, Read};
use dpone_tests::ended::Ended;
use dpone_tests::facts::Step;
use dpone_tests::killed::{Ground, RUN};
use dpone_tests::product::dpone;
use dpone_tests::route::{Mode, Sink};
use rusqlite::Connection;

const RESUME: [&str; 3] = ["run", "m.yaml", "--resume"];

/// A ground where the second run was killed at a step.
fn killed(sink: Sink, step: &Step) -> Ground {
    let ground = Ground::new(sink, Mode::Append, false);
    ground.kill_at(&RUN, step, 1).unwrap();
    ground.keep();
    ground
}

#[test]
fn locked_by_another_process() {
    let ground = killed(Sink::Sqlite, &Step::Announced(Load));
    let route = &ground.route;
    let rival = Connection::open(route.folder.join("journal.db")).unwrap();
    rival.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT count(*) FROM events").unwrap();
    for arguments in [&RESUME[..], &["run", "m.yaml"]] {
        Ended::run(&route.folder, arguments).with(2, "error[journal_locked]");
    }
    assert_eq!(route.delivered(), route.expected(1));
    rival.execute_batch("ROLLBACK").unwrap();
    drop(rival);
    Ended::run(&route.folder, &RESUME).delivered();
    assert_eq!(route.delivered(), route.expected(2));
}

/// Held at an object's write, when nothing of the journal is being written.
#[test]
fn locked_while_a_run_writes() {
    let ground = Ground::new(Sink::Parquet, Mode::Append, false);
    let route = &ground.route;
    let mut held = ground.killer.hold(&route.folder, &["run", "m.yaml", "--format", "json"], "/objects/");
    held.until("an object is written", |_, point| point.writes(".part"));
    let rival = Connection::open(route.folder.join("journal.db")).unwrap();
    rival.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    rival.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = Ended(held.finish()).with(3, "error[journal_locked]").json();
    assert_eq!((told["published"].as_bool(), told["outcome"].as_str()), (Some(false), Some("suspended")));
    drop(rival);
    assert_eq!(route.delivered(), route.expected(1));
    Ended::run(&route.folder, &RESUME).delivered();
    assert_eq!(route.delivered(), route.expected(2));
    assert_eq!(route.leftovers(), Vec::<String>::new());
}

/// Every page, zeroed, one at a time: it is found, or it held nothing that counts.
#[test]
fn a_page_that_was_overwritten() {
    let ground = killed(Sink::Sqlite, &Step::Announced(Publish));
    let route = &ground.route;
    let journal = route.folder.join("journal.db");
    let pages = fs::metadata(&journal).unwrap().len() / 4096;
    let mut found = 0;
    for page in 0..pages {
        ground.reset();
        let mut bytes = fs::read(&journal).unwrap();
        bytes[(page * 4096) as usize..][..4096].fill(0);
        fs::write(&journal, bytes).unwrap();
        let fresh = Ended::run(&route.folder, &["run", "m.yaml"]);
        assert!(fresh.code() == Some(1) || fresh.err().contains("error[run_unsettled]"), "page {page}: {fresh}");
        let resumed = Ended::run(&route.folder, &RESUME);
        let expected = if resumed.code() == Some(0) {
            2
        } else {
            resumed.with(1, "error[journal_corrupt]");
            found += 1;
            1
        };
        assert_eq!(route.delivered(), route.expected(expected), "page {page}");
    }
    assert!(found > 1, "{found} of {pages} pages were found damaged");
}

/// The end of the journal is lost with its `-wal`: what a resume then does not know, it must find in the target.
#[test]
fn without_its_wal() {
    for sink in [Sink::Parquet, Sink::Sqlite] {
        for step in [
            Step::Announced(Read),
            Step::Recorded(Put),
            Step::Announced(Load),
            Step::Announced(Publish),
            Step::Done(Publish),
            Step::Recorded(Publish),
            Step::Announced(Drop),
        ] {
            let ground = killed(sink, &step);
            let route = &ground.route;
            fs::remove_file(route.folder.join("journal.db-wal")).unwrap();
            let _ = fs::remove_file(route.folder.join("journal.db-shm"));
            let before = route.delivered();
            let fresh = Ended::run(&route.folder, &["run", "m.yaml"]);
            assert_ne!(fresh.code(), Some(0), "{sink:?} {step:?}: a new run over a run that is not settled");
            assert_eq!(route.delivered(), before, "{sink:?} {step:?}");
            let resumed = Ended::run(&route.folder, &RESUME);
            let published = before == route.expected(2);
            match resumed.code() {
                Some(0) => assert_eq!(route.delivered(), route.expected(2), "{sink:?} {step:?} {resumed}"),
                Some(1..=5) => {
                    assert!(resumed.err().contains("error["), "{resumed}");
                    assert_eq!(route.delivered(), before, "{sink:?} {step:?} {resumed}");
                    assert!(published, "{sink:?} {step:?}: nothing is in its way: {resumed}");
                }
                other => panic!("{sink:?} {step:?}: {other:?} {resumed}"),
            }
        }
    }
}

/// A user who is not root: file modes mean nothing to root.
#[test]
fn read_only() {
    if Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "true"])
        .status()
        .is_ok_and(|s| s.success())
    {
        let ground = killed(Sink::Sqlite, &Step::Announced(Load));
        let route = &ground.route;
        let own = |path: &Path| {
            assert!(Command::new("chown").args(["-R", "65534:65534"]).arg(path).status().unwrap().success())
        };
        own(route.folder.parent().unwrap());
        let journal = route.folder.join("journal.db");
        let mode = |file: &Path, mode: u32| fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(dpone()).args(arguments);
            Ended(command.args(["--format", "json"]).current_dir(&route.folder).output().unwrap())
        };
        mode(&journal, 0o444);
        for arguments in [&RESUME[..], &["run", "m.yaml"]] {
            run(arguments).with(2, "error[journal_read_only]");
        }
        assert_eq!(route.delivered(), route.expected(1));
        mode(&journal, 0o644);
        run(&RESUME).delivered();
        assert_eq!(route.delivered(), route.expected(2));
    } else {
        use std::io::Write;
        writeln!(std::io::stderr().lock(), "skipped: this user cannot become another").unwrap();
    }
}

/// The journal was copied to another place; what was read is not there.
#[test]
fn elsewhere_without_its_objects() {
    for sink in [Sink::Parquet, Sink::Sqlite] {
        for step in [Step::Announced(Put), Step::Announced(Load), Step::Announced(Publish)] {
            let ground = killed(sink, &step);
            let route = &ground.route;
            let folder = &route.folder;
            for end in ["", "-wal"] {
                fs::copy(folder.join(format!("journal.db{end}")), folder.join(format!("moved.db{end}"))).unwrap();
            }
            for gone in ["objects", "work"] {
                fs::remove_dir_all(folder.join(gone)).unwrap();
            }
            Ended::run(folder, &["run", "m.yaml", "--resume", "--journal", "moved.db"]).delivered();
            assert_eq!(route.delivered(), route.expected(2), "{sink:?} {step:?}");
            assert_eq!(route.leftovers(), Vec::<String>::new(), "{sink:?} {step:?}");
            // The journal that stayed behind knows less than the target does.
            let late = Ended::run(folder, &RESUME);
            assert_eq!(route.delivered(), route.expected(2), "{sink:?} {step:?} {late}");
        }
    }
}
