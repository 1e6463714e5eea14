//! Which runs of a target are not settled: found from the last event where that is enough, never otherwise than the
//! fold says.

use dpone_engine::codes::Code;
use dpone_engine::run::recover;
use dpone_journal::sqlite::Journal;
use rusqlite::Connection;

use super::samples::planned;
use super::story;

#[test]
fn every_prefix_of_a_log_is_settled_as_its_fold_says() {
    for story in [story::delivered("a", "t"), story::failed("a", "t")] {
        let mut settled = 0;
        for facts in 1..=story.events.len() {
            let folder = tempfile::tempdir().unwrap();
            let mut journal = Journal::open(&folder.path().join("journal.db")).unwrap();
            story.write(&mut journal, facts);
            let run = recover(story.events[..facts].iter().map(|(_, e)| e)).unwrap();
            let unsettled = journal.unsettled_on("t").unwrap();
            assert_eq!(unsettled.is_empty(), run.settled(), "after {facts} facts");
            assert_eq!(unsettled, journal.runs().unwrap().into_iter().filter(|_| !run.settled()).collect::<Vec<_>>());
            settled += u32::from(run.settled());
            // So says the creation of the next run, too.
            let next = journal.create_run(&planned("b", "t"), 1);
            assert_eq!(
                next.err().map(|r| r.code),
                (!run.settled()).then_some(Code::RunUnsettled),
                "after {facts} facts"
            );
        }
        assert!(settled > 0 && settled < story.events.len() as u32);
    }
}

#[test]
fn targets_do_not_touch_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("journal.db")).unwrap();
    journal.create_run(&planned("a", "t1"), 1).unwrap();
    journal.create_run(&planned("b", "t2"), 2).unwrap();
    assert_eq!(journal.create_run(&planned("c", "t1"), 3).unwrap_err().code, Code::RunUnsettled);
    assert_eq!(journal.unsettled_on("t2").unwrap()[0].run, "b");
    assert_eq!(journal.unsettled_on("t3").unwrap(), []);
    assert_eq!(journal.newest_of("orders").unwrap().unwrap().run, "b");
    assert_eq!(journal.newest_of("other").unwrap(), None);
    assert_eq!(journal.runs().unwrap().iter().map(|r| &*r.run).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(journal.run("c").unwrap_err().code, Code::RunNotFound);
    assert_eq!(journal.entries("c").unwrap_err().code, Code::RunNotFound);
    assert_eq!(journal.raise_epoch("c").unwrap_err().code, Code::RunNotFound);
}

fn damaged(change: &str) -> Result<(), Code> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let mut journal = Journal::open(&path).unwrap();
    for (run, facts_short) in [("old", 0), ("open", 1), ("new", 0)] {
        // Written while its target is its own, and found on one with the others.
        let story = story::failed(run, run);
        story.write(&mut journal, story.events.len() - facts_short);
    }
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(
        "DROP TRIGGER events_are_not_changed; DROP TRIGGER epochs_only_grow; UPDATE runs SET target = 't'",
    )
    .unwrap();
    raw.execute_batch(change).unwrap();
    let unsettled = journal.unsettled_on("t").map_err(|r| r.code)?;
    assert_eq!(unsettled.iter().map(|r| &*r.run).collect::<Vec<_>>(), ["open"], "{change}");
    assert_eq!(journal.create_run(&planned("next", "t"), 1).unwrap_err().code, Code::RunUnsettled);
    Ok(())
}

/// An end is believed only if it is whole; the newest run only as a whole.
#[test]
fn damage_is_no_end() {
    let check = |change: &str, expect| assert_eq!(damaged(change), expect, "{change}");
    let last = "seq = (SELECT max(seq) FROM events WHERE run_id = 'new')";
    check("", Ok(()));
    check(
        "UPDATE events SET kind = 'closed', payload = x'00' WHERE run_id = 'open' AND seq = (SELECT max(seq) FROM events WHERE run_id = 'open')",
        Err(Code::JournalCorrupt),
    );
    check(&format!("UPDATE events SET at = at + 1 WHERE run_id = 'old' AND {last}"), Err(Code::JournalCorrupt));
    check(&format!("UPDATE events SET at = at + 1 WHERE run_id = 'new' AND {last}"), Err(Code::JournalCorrupt));
    check("UPDATE events SET at = at + 1 WHERE run_id = 'open' AND seq = 5", Err(Code::JournalCorrupt));
    check("UPDATE events SET at = at + 1 WHERE run_id = 'new' AND seq = 5", Err(Code::JournalCorrupt));
    // What an older run did before its end is for `verify`.
    check("UPDATE events SET at = at + 1 WHERE run_id = 'old' AND seq = 5", Ok(()));
}
