//! Locks: one runner per manifest and per target, and the kernel lets go when it ends.

use std::path::Path;
use std::sync::Barrier;
use std::thread;

use dpone_engine::codes::Code;
use dpone_journal::lock::{Locks, take};

fn code(taken: Result<Locks, dpone_engine::refusal::Refusal>) -> Option<Code> {
    taken.err().map(|r| r.code)
}

#[test]
fn a_manifest_and_a_target_have_one_runner() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.db");
    let check = |manifest: &str, target: &str, expect: Option<Code>| {
        assert_eq!(code(take(&journal, manifest, target)), expect, "{manifest} {target}");
    };
    let held = take(&journal, "m1", "t1").unwrap();
    check("m1", "t1", Some(Code::RunAlreadyActive));
    check("m1", "t2", Some(Code::RunAlreadyActive));
    check("m2", "t1", Some(Code::RunAlreadyActive));
    check("m2", "t2", None);
    // What a refused one had taken already it gave back.
    check("m2", "t3", None);
    drop(held);
    check("m1", "t1", None);
}

#[test]
fn the_refusal_names_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.db");
    let _held = take(&journal, "m", "t").unwrap();
    let refusal = take(&journal, "m", "t").unwrap_err();
    assert!(refusal.message.contains(&std::process::id().to_string()), "{refusal}");
    assert!(refusal.fix.is_some());
}

#[test]
fn a_journal_has_the_same_locks_by_every_name() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.db");
    std::fs::write(&journal, b"").unwrap();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&journal, &link).unwrap();
    let _held = take(&journal, "m", "t").unwrap();
    assert_eq!(code(take(&link, "m", "t")), Some(Code::RunAlreadyActive));
    let roundabout = folder.path().join("..").join(folder.path().file_name().unwrap()).join("journal.db");
    assert_eq!(code(take(&roundabout, "m", "t")), Some(Code::RunAlreadyActive));
}

#[test]
fn of_many_at_once_exactly_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.db");
    for round in 0..20 {
        let manifest = format!("m{round}");
        let (start, end) = (Barrier::new(4), Barrier::new(4));
        let attempt = |journal: &Path| {
            start.wait();
            let taken = take(journal, &manifest, "t");
            // Nobody lets go before everybody has tried.
            end.wait();
            code(taken)
        };
        let results: Vec<_> = thread::scope(|s| {
            let tries: Vec<_> = (0..4).map(|_| s.spawn(|| attempt(&journal))).collect();
            tries.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let won = results.iter().filter(|r| r.is_none()).count();
        assert_eq!(won, 1, "{results:?}");
        assert!(results.iter().flatten().all(|c| *c == Code::RunAlreadyActive), "{results:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("journal.db.locks"), b"a file in its place").unwrap();
    assert_eq!(code(take(&folder.path().join("journal.db"), "m", "t")), Some(Code::JournalWriteFailed));
}
