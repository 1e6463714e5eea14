//! How runs come to rest when something they need keeps failing.

use super::story::Story;
use crate::codes::Code;
use crate::run::{Draft, Why};

#[test]
fn an_object_that_cannot_be_read_now_is_not_lost() {
    for (why, lost) in [
        (Why::fatal(Code::ObjectLost, "it is gone"), true),
        (Why::transient(Code::ObjectLost, "too many open files"), false),
        (Why::transient(Code::ObjectReadFailed, "too many open files"), false),
    ] {
        let mut story = Story::begun();
        story.read(false);
        story.done(&Draft::Stage { unit: None }, crate::run::Receipt::Staged);
        story.failed(&Draft::Load { unit: 0 }, why.clone());
        assert_eq!(story.run.object_lost, lost, "{why:?}");
    }
}
