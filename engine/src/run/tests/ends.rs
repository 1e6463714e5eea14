//! How runs come to rest when something they need keeps failing.

use super::found::plan;
use super::story::{CLEANUP, SEALED, Story, policy, written};
use crate::codes::Code;
use crate::manifest::OnAuthorityLost;
use crate::run::facts::Retention;
use crate::run::run::Fate;
use crate::run::{Draft, Ending, Event, OwnedKind, PlanFacts, Policy, Receipt, Seen, State, Why, decide, ending};

#[test]
fn an_object_that_cannot_be_read_now_is_not_lost() {
    for (why, lost) in [
        (Why::fatal(Code::ObjectLost, "it is gone"), true),
        (Why::transient(Code::ObjectLost, "too many open files"), false),
        (Why::transient(Code::ObjectReadFailed, "too many open files"), false),
    ] {
        let mut story = Story::begun();
        story.read(false);
        story.done(&Draft::Stage { unit: None }, Receipt::Staged);
        story.failed(&Draft::Load { unit: 0 }, why.clone());
        assert_eq!(story.run.object_lost, lost, "{why:?}");
    }
}

/// A state that is lost while it is read is read anew as the policy says, never mixed with the next one.
#[test]
fn a_state_that_is_lost_while_it_is_read_begins_another_attempt() {
    let gone = || Why::fatal(Code::ConsistencyAuthorityLost, "its session ended");
    let reading = || {
        let mut story = Story::begun();
        story.done(&Draft::Claim, Receipt::Claimed);
        story.done(&Draft::Open, Receipt::Opened { authority: "state".into(), persistent: false });
        story.moved(State::Reading);
        story
    };
    for lost in [Draft::Read { unit: 0 }, Draft::Count] {
        let mut story = reading();
        let other = story.intend(if lost == Draft::Count { &Draft::Read { unit: 0 } } else { &Draft::Count });
        story.failed(&lost, gone());
        assert!(story.run.authority_lost && !story.run.is_reading(), "{lost:?}");
        assert!(story.records(&policy()).is_empty() && story.begins(&policy()).is_empty(), "the other ends first");
        let why = Why::transient(crate::run::event::ABANDONED, "the read was cancelled");
        story.fact(Event::NotDone { key: other, why, not_before: 0 });
        assert_eq!(story.records(&policy()), [Event::AttemptStarted { attempt: 2, adopted: Vec::new() }]);
        let stop = Policy { on_authority_lost: OnAuthorityLost::Stop, ..policy() };
        let halted = story.records(&stop);
        assert!(matches!(&halted[..], [Event::Halted { why, .. }] if why.code == gone().code), "{halted:?}");
    }
}

/// A document that was written at the second try is not why something could not be removed.
#[test]
fn a_cause_that_passed_is_not_the_cause_of_what_follows() {
    let mut story = Story::begun();
    story.passed();
    story.done(&Draft::Publish, Receipt::Published { identity: "p".into(), rows: 0 });
    story.moved(State::Published);
    story.failed(&SEALED, Why::transient(Code::EvidenceWriteFailed, "the disk was full"));
    story.done(&SEALED, written());
    story.moved(State::EvidenceComplete);
    let Some(staging) = story.begins(&policy()).first().cloned() else { panic!("nothing is removed") };
    story.failed(&staging, Why::fatal(Code::TargetLocked, "the target is locked"));
    let Ending::DeliveredUncleaned(why) = ending(&story.run) else { panic!("{:?}", ending(&story.run)) };
    assert_eq!((why.code, why.detail.as_str()), (Code::CleanupFailed, "the target is locked"));
}

/// The runner died while it published, and the next one cannot take the claim, or not tell whether it has it.
#[test]
fn an_outcome_that_cannot_be_looked_into_is_sealed() {
    let refused = |story: &mut Story| {
        story.failed(&Draft::Claim, Why::fatal(Code::TargetNotReachable, "the target is away"));
    };
    let doubted = |story: &mut Story| {
        let key = story.intend(&Draft::Claim);
        story.fact(Event::Doubted { key, why: Why::transient(Code::TargetLocked, "no answer") });
        assert!(story.begins(&policy()).is_empty(), "the claim is probed first");
        story.fact(Event::Probed { key, seen: Seen::CannotTell, not_before: 0 });
    };
    let ways: [&dyn Fn(&mut Story); 2] = [&refused, &doubted];
    for way in ways {
        let mut story = Story::begun();
        story.passed();
        story.intend(&Draft::Publish);
        story.fact(Event::TakenOver { epoch: 2 });
        story.moved(State::OutcomeUnknown);
        assert_eq!(story.begins(&policy()), [Draft::Claim]);
        way(&mut story);
        assert_eq!(story.begins(&policy()), [SEALED]);
        story.done(&SEALED, written());
        assert!(decide(&story.run, &policy()).is_empty());
        assert!(matches!(ending(&story.run), Ending::Unknown(_)));
    }
}

/// The disk that is full of what is to be removed is also the one that evidence goes to.
#[test]
fn a_document_without_room_does_not_keep_what_takes_the_room() {
    let mut story = Story::begun();
    story.read(false);
    story.done(&Draft::Stage { unit: None }, Receipt::Staged);
    story.fact(Event::Halted { why: Why::fatal(Code::TargetDiskFull, "no room"), key: None });
    assert_eq!(story.begins(&policy()), [SEALED]);
    story.failed(&SEALED, Why::transient(Code::EvidenceWriteFailed, "no room"));
    for _ in 0..2 {
        let [draft] = story.begins(&policy()).try_into().unwrap();
        let receipt = if draft == Draft::Release { Receipt::Released } else { Receipt::Dropped };
        story.done(&draft, receipt);
    }
    assert!(decide(&story.run, &policy()).is_empty());
    assert!(matches!(ending(&story.run), Ending::FailedUncleaned(why) if why.code == Code::TargetDiskFull));
    // The next runner writes it, and closes the attempt.
    story.fact(Event::TakenOver { epoch: 2 });
    story.done(&SEALED, written());
    assert_eq!(story.begins(&policy()), [CLEANUP]);
    story.done(&CLEANUP, written());
    assert_eq!(story.records(&policy()), [Event::Closed]);
}

/// Objects that a failed attempt leaves behind are kept for an attempt that can adopt them, and removed if there is none.
#[test]
fn objects_are_kept_only_for_an_attempt_that_can_adopt_them() {
    for (persistent, kept) in [(true, Fate::Kept), (false, Fate::Live)] {
        let mut story = Story::of(PlanFacts { objects_after_failure: Retention::Keep, ..plan() });
        story.read_one_object(persistent);
        story.fact(Event::Halted { why: Why::fatal(Code::TargetDiskFull, "no room"), key: None });
        let fates: Vec<Fate> = story.run.owned.values().map(|o| o.fate).collect();
        assert_eq!(fates, [kept], "persistent: {persistent}");
    }
}

/// A failed attempt at rest is given up by an attempt of its own that does nothing but remove what was kept.
#[test]
fn what_a_failed_attempt_kept_is_removed_when_it_is_given_up() {
    let mut story = Story::of(PlanFacts { objects_after_failure: Retention::Keep, ..plan() });
    story.read_one_object(true);
    story.fact(Event::Halted { why: Why::fatal(Code::TargetDiskFull, "no room"), key: None });
    story.done(&SEALED, written()).done(&Draft::Release, Receipt::Released).done(&CLEANUP, written());
    story.fact(Event::Closed).fact(Event::TakenOver { epoch: 2 });
    let abandon = Policy { abandon: true, restart_from: Some(1), ..policy() };
    for _ in 0..2 {
        let [event] = story.records(&abandon).try_into().unwrap();
        story.fact(event);
    }
    assert_eq!(story.run.halted.as_ref().map(|why| why.code), Some(Code::RunAbandoned));
    story.done(&SEALED, written());
    let [draft] = story.begins(&abandon).try_into().unwrap();
    assert!(matches!(draft, Draft::Drop { kind: OwnedKind::Object, .. }), "{draft:?}");
    story.done(&draft, Receipt::Dropped).done(&CLEANUP, written());
    assert_eq!(story.records(&abandon), [Event::Closed]);
    story.fact(Event::Closed);
    assert_eq!(story.begins(&abandon), []);
    assert_eq!(story.records(&abandon), []);
}
