//! Evidence documents: complete, deterministic, and silent about values.

use dpone_engine::driver::Entry;
use dpone_engine::evidence::{Evidence, RangeState, SealedOutcome, render, sealed};
use dpone_engine::run::effect::Document;
use dpone_engine::run::{Event, recover};

use super::story::{JOURNAL_KEY, Story, delivered, failed, published, resumed, unknown};

fn seal(story: &Story) -> Evidence {
    sealed(&story.plan, &JOURNAL_KEY, &story.run, &story.entries, story.observed())
}

fn text(story: &Story, document: Document) -> String {
    render(document, &story.plan, &JOURNAL_KEY, &story.run, &story.entries, story.observed())
}

#[test]
fn sealed_documents() {
    insta::assert_snapshot!("published", text(&published(), Document::Sealed));
    insta::assert_snapshot!("failed", text(&failed(), Document::Sealed));
    insta::assert_snapshot!("unknown", text(&unknown(), Document::Sealed));
}

#[test]
fn cleanup_documents() {
    insta::assert_snapshot!("cleanup", text(&delivered(), Document::Cleanup));
}

#[test]
fn what_ran_at_the_same_time_is_observed() {
    let evidence = seal(&published());
    let observed = evidence.concurrency.observed_max;
    assert_eq!((observed.readers, observed.uploads, observed.loads), (2, 2, 1));
    assert_eq!(evidence.high_water.inflight_object_rows, 700);
    assert_eq!(evidence.high_water.inflight_object_bytes, 70_000);
    assert_eq!(evidence.incidents.len(), 1);
    assert_eq!(evidence.failure, None);
}

#[test]
fn a_failure_has_one_primary_error_and_the_rest_attached() {
    let evidence = seal(&failed());
    let failure = evidence.failure.unwrap();
    assert_eq!(failure.primary.code, "invalid_text_encoding");
    assert_eq!(failure.primary.range, Some(1));
    assert!(failure.attached.is_empty());
    assert_eq!(failure.cancelled.len(), 1);
    assert_eq!(evidence.outcome, SealedOutcome::Failed);
    let states: Vec<_> = evidence.ranges.iter().map(|range| range.state).collect();
    assert_eq!(states, [RangeState::Cancelled, RangeState::Failed]);
    assert_eq!(evidence.publication.receipt, None);
}

#[test]
fn an_unknown_outcome_says_so() {
    let evidence = seal(&unknown());
    assert_eq!(evidence.outcome, SealedOutcome::Unknown);
    assert_eq!(evidence.failure.unwrap().primary.code, "publication_outcome_unknown");
    assert_eq!(evidence.publication.announced.len(), 1);
    assert!(evidence.unverified.iter().any(|note| note.contains("whether the publication happened")));
}

#[test]
fn same_log_same_bytes() {
    for story in [published(), failed(), unknown(), resumed()] {
        let again: Vec<Entry> = story.entries.clone();
        let run = recover(again.iter().map(|entry| &entry.event)).unwrap();
        let second = render(Document::Sealed, &story.plan, &JOURNAL_KEY, &run, &again, story.observed());
        assert_eq!(text(&story, Document::Sealed), second);
    }
}

/// Writing a document is announced in the log, and announced again when it did not succeed.
#[test]
fn a_document_does_not_depend_on_how_often_it_was_written() {
    use dpone_engine::codes::Code;
    use dpone_engine::run::Why;
    use dpone_engine::run::policy::Draft;
    let mut story = published();
    let before = text(&story, Document::Sealed);
    let key = story.intend(&Draft::Evidence { document: Document::Sealed });
    assert_eq!(text(&story, Document::Sealed), before);
    let why = Why::transient(Code::EvidenceWriteFailed, "the disk is full");
    story.fact(Event::NotDone { key, why, not_before: 0 });
    let again = story.intend(&Draft::Evidence { document: Document::Sealed });
    assert!(again > key);
    let mut after: serde_json::Value = serde_json::from_str(&text(&story, Document::Sealed)).unwrap();
    let failed = after["incidents"].as_array_mut().unwrap().pop().unwrap();
    assert_eq!(failed["effect"], "evidence");
    assert_eq!(after, serde_json::from_str::<serde_json::Value>(&before).unwrap());
}

#[test]
fn boundaries_are_committed_to_per_run() {
    let story = published();
    let hashes = |key: &[u8; 32], run: &str| {
        let mut run_of = story.run.clone();
        run_of.id = run.into();
        let evidence = sealed(&story.plan, key, &run_of, &story.entries, story.observed());
        evidence.ranges.iter().filter_map(|r| r.range.upper.clone()).map(|end| end.hash).collect::<Vec<_>>()
    };
    assert_eq!(hashes(&JOURNAL_KEY, "a"), hashes(&JOURNAL_KEY, "a"));
    assert_ne!(hashes(&JOURNAL_KEY, "a"), hashes(&JOURNAL_KEY, "b"));
    assert_ne!(hashes(&JOURNAL_KEY, "a"), hashes(&[8; 32], "a"));
    let shown = text(&story, Document::Sealed);
    // The only inner boundary of 1..=1000 in two ranges.
    assert!(!shown.contains("501"), "a boundary is shown");
    assert!(!shown.contains("12345"), "a checksum of rows is shown");
}
