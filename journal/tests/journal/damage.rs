//! Damaged files: refused or found by `verify`, and never taken for an empty or another journal.

use std::fs;
use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::refusal::Refusal;
use dpone_journal::sqlite::{Journal, RunRow};

use super::story;

const PAGE: usize = 4096;

#[derive(Debug, PartialEq)]
struct Content {
    id: String,
    key: [u8; 32],
    runs: Vec<RunRow>,
    entries: Vec<Vec<Entry>>,
}

fn content(journal: &Journal) -> Result<Content, Refusal> {
    let runs = journal.runs()?;
    let entries = runs.iter().map(|r| journal.entries(&r.run)).collect::<Result<_, _>>()?;
    Ok(Content { id: journal.id().to_owned(), key: *journal.digest_key(), runs, entries })
}

/// A journal of several pages, at rest.
fn whole(path: &Path) -> (Vec<u8>, Content) {
    let mut journal = Journal::open(path).unwrap();
    for run in 0..4 {
        let story = story::failed(&format!("run{run}"), "t");
        story.write(&mut journal, story.events.len());
    }
    let content = content(&journal).unwrap();
    drop(journal);
    let bytes = fs::read(path).unwrap();
    assert!(bytes.len() > 6 * PAGE);
    (bytes, content)
}

/// Opened and read, it is refused as damaged or newer, or everything of it is as it was. Verified, the same.
fn check(path: &Path, bytes: &[u8], before: &Content, what: &str) {
    fs::write(path, bytes).unwrap();
    let damage = |r: &Refusal| matches!(r.code, Code::JournalCorrupt | Code::JournalNewer);
    let found = match Journal::open_to_verify(path).and_then(|journal| journal.verify()) {
        Ok(verdict) => !verdict.whole(),
        Err(refusal) if damage(&refusal) => true,
        Err(refusal) => panic!("{what}: {refusal:?}"),
    };
    match Journal::open(path).and_then(|journal| content(&journal)) {
        Ok(mut after) => {
            // An epoch that grew fences a runner that is not there, and nothing else.
            for (after, before) in after.runs.iter_mut().zip(&before.runs) {
                after.epoch = if after.epoch > before.epoch { before.epoch } else { after.epoch };
            }
            assert!(after == *before || found, "{what}: not found");
        }
        Err(refusal) if damage(&refusal) => assert!(found, "{what}: {refusal:?}, and verified as whole"),
        Err(refusal) => panic!("{what}: {refusal:?}"),
    }
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", path.display()));
    }
}

#[test]
fn a_zeroed_page_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bytes, before) = whole(&path);
    for page in 0..bytes.len() / PAGE {
        let mut damaged = bytes.clone();
        damaged[page * PAGE..(page + 1) * PAGE].fill(0);
        check(&path, &damaged, &before, &format!("page {} zeroed", page + 1));
        fs::write(&path, &damaged).unwrap();
        let refusal = Journal::open(&path).and_then(|journal| content(&journal)).unwrap_err();
        assert_eq!(refusal.code, Code::JournalCorrupt, "page {}: {refusal:?}", page + 1);
    }
}

#[test]
fn a_hundred_zeroed_bytes_and_single_flipped_bits_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bytes, before) = whole(&path);
    for at in (0..bytes.len() - 100).step_by(1_009) {
        let mut damaged = bytes.clone();
        damaged[at..at + 100].fill(0);
        check(&path, &damaged, &before, &format!("100 bytes at {at} zeroed"));
    }
    for at in (0..bytes.len()).step_by(211) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        check(&path, &damaged, &before, &format!("a bit at {at} flipped"));
    }
    // The header and the first bytes of the list of tables, one by one.
    for at in 0..120 {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xFF;
        check(&path, &damaged, &before, &format!("byte {at} flipped"));
    }
}

#[test]
fn a_file_that_was_cut_short_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (bytes, _) = whole(&path);
    for length in (1..bytes.len()).step_by(PAGE / 2) {
        fs::write(&path, &bytes[..length]).unwrap();
        let refusal = Journal::open(&path).and_then(|journal| content(&journal)).unwrap_err();
        assert_eq!(refusal.code, Code::JournalCorrupt, "{length}: {refusal:?}");
    }
    // Cut to nothing: the locks of its runners say that it was something.
    fs::write(&path, b"").unwrap();
    assert_eq!(Journal::open(&path).unwrap_err().code, Code::JournalCorrupt);
}
