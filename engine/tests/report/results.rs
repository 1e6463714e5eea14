//! The run's result, its receipt and its exit code.

use dpone_engine::codes::Code;
use dpone_engine::driver::Finish;
use dpone_engine::evidence::sealed;
use dpone_engine::report::receipt::receipt;
use dpone_engine::report::run_result::{Extras, RunOutcome, RunResult, Work, exit_code, finish_code, run_result};
use dpone_engine::run::{Ending, Event, Why, ending};

use super::story::{JOURNAL_KEY, Story, delivered, failed, resumed, unknown};

fn result(story: &Story, work: Work<'_>) -> RunResult {
    let extras = Extras {
        manifest_file: "my orders.yaml",
        journal: ".dpone/journal.db",
        key: &JOURNAL_KEY,
        observed: Some(story.observed()),
    };
    run_result(&story.plan, &story.run, &story.entries, work, &extras)
}

fn finished(story: &Story) -> Finish {
    Finish::Ended(ending(&story.run))
}

fn failed_and_closed() -> Story {
    let mut story = failed();
    story.seal();
    story.clean();
    story.fact(Event::Closed);
    story
}

#[test]
fn as_json_and_as_a_receipt() {
    for (name, story) in
        [("delivered", delivered()), ("failed_closed", failed_and_closed()), ("outcome_unknown", unknown())]
    {
        let result = result(&story, Work::Finished(&finished(&story)));
        insta::assert_snapshot!(format!("{name}_json"), serde_json::to_string_pretty(&result).unwrap());
        insta::assert_snapshot!(format!("{name}_receipt"), receipt(&result, &story.entries, false));
    }
    let story = resumed();
    let result = result(&story, Work::Finished(&finished(&story)));
    insta::assert_snapshot!("resumed_markdown", receipt(&result, &story.entries, true));
}

/// Each gate that failed has to be mended, not only the one that is the cause.
#[test]
fn every_failed_gate_says_why() {
    let story = delivered();
    let mut result = result(&story, Work::Finished(&finished(&story)));
    for (gate, detail) in result.quality.gates.iter_mut().zip(["too few", "3 rows are NULL", "2 values occur twice"]) {
        (gate.passed, gate.detail) = (false, Some(detail.to_owned()));
    }
    let text = receipt(&result, &story.entries, false);
    assert!(text.contains("gate        not_null(id): 3 rows are NULL\n"), "{text}");
    assert!(text.contains("gate        unique(id): 2 values occur twice\n"), "{text}");
    assert!(!text.contains("too few"), "the first one is the cause: {text}");
}

/// What no runner measured is not told as a fact.
#[test]
fn what_was_not_measured_is_left_out() {
    let story = delivered();
    let finish = finished(&story);
    let extras = Extras { manifest_file: "m.yaml", journal: "j.db", key: &JOURNAL_KEY, observed: None };
    let result = run_result(&story.plan, &story.run, &story.entries, Work::Finished(&finish), &extras);
    assert_eq!((result.budget.reserved_peak, result.budget.reserved_peak_rows), (None, None));
    let text = receipt(&result, &story.entries, false);
    assert!(text.contains("budget") && !text.contains("reserved"), "{text}");
}

/// Who holds the receipt can check it against the evidence.
#[test]
fn checksums_are_the_ones_of_the_evidence() {
    let story = delivered();
    let result = result(&story, Work::Finished(&finished(&story)));
    let evidence = sealed(&story.plan, &JOURNAL_KEY, &story.run, &story.entries, story.observed());
    let told: Vec<_> = result.ranges.iter().map(|range| range.checksum.clone()).collect();
    let proven: Vec<_> = evidence.ranges.iter().map(|range| range.source_profile.clone()).collect();
    assert!(told == proven && told.iter().all(Option::is_some), "{told:?} {proven:?}");
}

#[test]
fn what_is_said_about_the_outcome() {
    let check = |story: &Story, work: Work<'_>, outcome, published, next: Option<&str>| {
        let result = result(story, work);
        assert_eq!((result.outcome, result.published), (outcome, published));
        assert_eq!(result.next.as_deref(), next);
    };
    let resume = Some("dpone run 'my orders.yaml' --resume 0197e6a4-run");
    let (story, end) = (delivered(), finished(&delivered()));
    check(&story, Work::Finished(&end), RunOutcome::Delivered, Some(true), None);
    check(&story, Work::NothingToDo, RunOutcome::NothingToDo, Some(true), None);
    let (story, end) = (failed_and_closed(), finished(&failed_and_closed()));
    check(&story, Work::Finished(&end), RunOutcome::Failed, Some(false), resume);
    let (story, end) = (unknown(), finished(&unknown()));
    check(&story, Work::Finished(&end), RunOutcome::Unknown, None, Some("dpone reconcile 0197e6a4-run"));
    let begun = Story::begin();
    check(&begun, Work::Finished(&Finish::Suspended), RunOutcome::Suspended, Some(false), resume);
    let lost = Finish::Lost { code: Code::JournalWriteFailed, detail: "the disk is full".into() };
    check(&begun, Work::Finished(&lost), RunOutcome::Suspended, Some(false), resume);
    check(&unknown(), Work::Finished(&lost), RunOutcome::Unknown, None, Some("dpone reconcile 0197e6a4-run"));
}

#[test]
fn exit_codes() {
    let why = |code| Why::fatal(code, "because");
    for (ending, code) in [
        (Ending::Delivered, 0),
        (Ending::DeliveredUncleaned(why(Code::CleanupFailed)), 6),
        (Ending::Failed(why(Code::SourceReadFailed)), 3),
        (Ending::FailedUncleaned(why(Code::LoadFailed)), 3),
        (Ending::Failed(why(Code::TargetClaimedElsewhere)), 5),
        (Ending::Failed(why(Code::InternalError)), 1),
        (Ending::Unknown(why(Code::PublicationOutcomeUnknown)), 4),
        (Ending::Unknown(why(Code::InternalError)), 1),
    ] {
        assert_eq!(exit_code(&ending), code, "{ending:?}");
    }
    let lost = |code| Finish::Lost { code, detail: String::new() };
    let begun = Story::begin();
    for (finish, run, signal, code) in [
        (Finish::Suspended, &begun.run, Some(2), 130),
        (Finish::Suspended, &begun.run, None, 143),
        (lost(Code::LeaseLost), &begun.run, None, 5),
        (lost(Code::JournalCorrupt), &begun.run, None, 1),
        (lost(Code::JournalWriteFailed), &begun.run, None, 3),
        (lost(Code::JournalWriteFailed), &unknown().run, None, 4),
        (lost(Code::JournalWriteFailed), &delivered().run, None, 6),
    ] {
        assert_eq!(finish_code(&finish, run, signal), code, "{finish:?}");
    }
}
