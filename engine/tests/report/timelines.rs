//! Timelines: every fact of a run, what was known, what was open, what would come next.

use dpone_engine::codes::Code;
use dpone_engine::report::timeline::{table, text, timeline};
use dpone_engine::run::Event;

use super::story::{delivered, failed, resumed, unknown};

#[test]
fn as_an_incident_report() {
    insta::assert_snapshot!("resumed", text(&timeline(&resumed().entries, None, false).unwrap()));
    insta::assert_snapshot!("failed", text(&timeline(&failed().entries, None, false).unwrap()));
    insta::assert_snapshot!("unknown", text(&timeline(&unknown().entries, None, true).unwrap()));
}

#[test]
fn at_any_fact() {
    // Between the announcement of the load and the take-over: what a crash leaves.
    let entries = resumed().entries;
    let at = entries.iter().position(|e| matches!(e.event, Event::TakenOver { epoch: 2 })).unwrap() as u64;
    let view = timeline(&entries, Some(at), false).unwrap();
    assert_eq!(view.open.len(), 1);
    assert!(view.next.is_empty());
    assert!(view.next_on_resume[0].starts_with("look whether it did load r1"), "{:?}", view.next_on_resume);
    insta::assert_snapshot!("at", text(&view));
    for story in [delivered(), failed(), resumed(), unknown()] {
        for at in 1..=story.entries.len() as u64 {
            let view = timeline(&story.entries, Some(at), false).unwrap();
            assert_eq!(view.events.len() as u64, at);
            assert!(serde_json::to_string(&view).is_ok());
        }
    }
}

/// A failed run at rest is not at its end: `--resume` starts its next attempt.
#[test]
fn what_resume_does_with_a_failed_run_at_rest() {
    let mut story = failed();
    story.seal();
    story.clean();
    story.fact(Event::Closed);
    let view = timeline(&story.entries, None, false).unwrap();
    assert!(view.next.is_empty());
    assert!(view.next_on_resume[0].contains("attempt 2"), "{:?}", view.next_on_resume);
    assert_eq!(timeline(&delivered().entries, None, false).unwrap().next_on_resume, Vec::<String>::new());
}

#[test]
fn as_a_table_and_as_json() {
    let view = timeline(&failed().entries, None, false).unwrap();
    insta::assert_snapshot!("table", table(&view, false));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&view).unwrap());
}

#[test]
fn values_are_shown_only_if_asked_for() {
    let entries = delivered().entries;
    let hidden = timeline(&entries, None, false).unwrap();
    assert!(!text(&hidden).contains("501") && !table(&hidden, true).contains("501"));
    assert!(!serde_json::to_string(&hidden).unwrap().contains("501"));
    assert!(text(&timeline(&entries, None, true).unwrap()).contains("id >= 501"));
}

#[test]
fn what_is_not_there_is_refused() {
    let entries = delivered().entries;
    for at in [0, entries.len() as u64 + 1, u64::MAX] {
        assert_eq!(timeline(&entries, Some(at), false).unwrap_err().code, Code::ManifestInvalidValue);
    }
    assert_eq!(timeline(&[], None, false).unwrap_err().code, Code::RunNotFound);
    assert_eq!(timeline(&entries[1..], None, false).unwrap_err().code, Code::JournalCorrupt);
}
