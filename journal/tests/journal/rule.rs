//! The append rule and the chain, without a store.

use dpone_engine::codes::Code;
use dpone_engine::run::Event;
use dpone_journal::rule::{Broken, Head, Stored, append, follow};

use super::samples::{numbered, planned};

const RUN: &str = "run";

fn log() -> Vec<Stored> {
    let head = Head { epoch: 3, ..Head::EMPTY };
    let (head, mut stored) = append(RUN, head, 3, 10, &[planned(RUN, "t"), numbered(3)]).unwrap();
    let attempt = Event::AttemptStarted { attempt: 1, adopted: Vec::new() };
    let (_, more) = append(RUN, head, 3, 9, &[attempt, numbered(4)]).unwrap();
    stored.extend(more);
    stored
}

fn walk(run: &str, log: &[Stored]) -> Result<Head, Broken> {
    log.iter().try_fold(Head::EMPTY, |head, stored| follow(run, head, stored))
}

#[test]
fn events_are_numbered_chained_and_stamped() {
    let log = log();
    assert_eq!(log.iter().map(|s| s.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(log.iter().map(|s| s.attempt).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(log.iter().map(|s| s.at).collect::<Vec<_>>(), [10, 10, 9, 9], "a clock may go back, the order may not");
    assert_eq!(log[0].previous, [0; 32]);
    for pair in log.windows(2) {
        assert_eq!(pair[1].previous, pair[0].hash);
    }
    let end = walk(RUN, &log).unwrap();
    assert_eq!((end.seq, end.hash, end.attempt, end.epoch), (4, log[3].hash, 1, 3));
}

#[test]
fn only_the_present_epoch_appends() {
    let head = Head { epoch: 3, ..Head::EMPTY };
    for epoch in [0, 1, 2, 4, u64::MAX] {
        assert_eq!(append(RUN, head, epoch, 0, &[Event::Closed]).unwrap_err().code, Code::LeaseLost, "{epoch}");
    }
    append(RUN, head, 3, 0, &[Event::Closed]).unwrap();
}

#[test]
fn an_event_that_does_not_fit_a_record_appends_nothing() {
    let large = Event::Deferred { name: "x".repeat(dpone_journal::record::MAX_RECORD), not_before: 0 };
    let error = append(RUN, Head::EMPTY, 0, 0, &[Event::Closed, large]).unwrap_err();
    assert_eq!(error.code, Code::JournalWriteFailed);
}

#[test]
fn a_change_of_any_field_breaks_the_chain_where_it_is() {
    let whole = log();
    let at = 1;
    let seq = whole[at].seq;
    let check = |what: &str, expect: Broken, change: &dyn Fn(&mut Stored)| {
        let mut changed = whole.clone();
        change(&mut changed[at]);
        assert_ne!(changed, whole, "{what}");
        assert_eq!(walk(RUN, &changed), Err(expect), "{what}");
    };
    let content = Broken::Content(seq);
    check("attempt", content, &|s| s.attempt += 1);
    check("epoch", content, &|s| s.epoch += 1);
    check("at", content, &|s| s.at += 1);
    check("kind", content, &|s| s.record.kind = "closed".to_owned());
    check("version", content, &|s| s.record.version += 1);
    check("a longer payload", content, &|s| s.record.payload.push(0));
    check("a shorter payload", content, &|s| s.record.payload.truncate(1));
    check("a byte moved from kind to payload", content, &|s| {
        let byte = s.record.kind.pop().unwrap();
        s.record.payload.insert(0, byte as u8);
    });
    check("seq", Broken::Sequence { after: 1, found: 3 }, &|s| s.seq += 1);
    for byte in 0..32 {
        check("previous", Broken::Previous(seq), &|s| s.previous[byte] ^= 1);
        check("hash", content, &|s| s.hash[byte] ^= 0x80);
    }
    for byte in 0..whole[at].record.payload.len() {
        for bit in 0..8 {
            check("payload", content, &|s| s.record.payload[byte] ^= 1 << bit);
        }
    }
}

#[test]
fn missing_moved_and_foreign_events_break_the_chain() {
    let whole = log();
    let mut missing = whole.clone();
    missing.remove(1);
    assert_eq!(walk(RUN, &missing), Err(Broken::Sequence { after: 1, found: 3 }));
    let mut twice = whole.clone();
    twice.insert(1, whole[0].clone());
    assert_eq!(walk(RUN, &twice), Err(Broken::Sequence { after: 1, found: 1 }));
    let mut swapped = whole.clone();
    swapped.swap(1, 2);
    assert_eq!(walk(RUN, &swapped), Err(Broken::Sequence { after: 1, found: 3 }));
    assert_eq!(walk("another", &whole), Err(Broken::Content(1)), "a log belongs to its run");
}
