//! How runs come to rest when something they need keeps failing.

use super::story::{SEALED, Story, policy, written};
use crate::codes::Code;
use crate::run::{Draft, Ending, Receipt, State, Why, ending};

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
