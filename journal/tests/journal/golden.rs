//! A journal of every version ever written, read by this dpone. Files are added, never regenerated for an old version:
//! `UPDATE_GOLDEN=1` writes the newest version's file if it is not there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use dpone_engine::report::timeline::{text, timeline};
use dpone_engine::run::run::Fate;
use dpone_journal::sqlite::Journal;

use super::story;

fn golden(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/golden/journal-v{version}.db"))
}

fn write(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut journal = Journal::open(path).unwrap();
    for story in [story::delivered("run-delivered", "sqlite:///dwh.db#orders"), story::failed("run-failed", "t2")] {
        story.write(&mut journal, story.events.len());
    }
    drop(journal);
    fs::remove_dir_all(format!("{}.locks", path.display())).unwrap();
}

#[test]
fn version_1_is_read() {
    insta::assert_snapshot!(shown(1));
}

#[test]
fn version_2_is_read() {
    let path = golden(2);
    if env::var_os("UPDATE_GOLDEN").is_some() && !path.exists() {
        write(&path);
    }
    insta::assert_snapshot!(shown(2));
}

/// What the journal of that version tells.
fn shown(version: u32) -> String {
    let path = golden(version);
    let bytes = fs::read(&path).unwrap();
    // A copy: the file itself stays as it is.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("journal.db");
    fs::write(&copy, &bytes).unwrap();
    let journal = Journal::open_to_read(&copy).unwrap();
    let verdict = journal.verify().unwrap();
    assert!(verdict.whole(), "{verdict:?}");
    let mut shown = String::new();
    for check in &verdict.runs {
        let (run, entries) = journal.fold(&check.run).unwrap();
        assert!(run.settled());
        assert!(run.owned.values().all(|o| o.fate != Fate::Live), "{}", check.run);
        let head = check.head_hex().unwrap();
        writeln!(shown, "{} {} events, head {head}\n", check.run, check.events).unwrap();
        writeln!(shown, "{}", text(&timeline(&entries, None, true).unwrap())).unwrap();
    }
    // The next runner goes on with it.
    let mut journal = Journal::open(&copy).unwrap();
    assert_eq!(journal.raise_epoch("run-failed").unwrap(), 3);
    shown
}
