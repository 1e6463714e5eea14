//! A plan as the journal keeps it.

use dpone_engine::codes::Code;
use dpone_engine::plan::Plan;
use dpone_engine::plan::facts::Former;
use dpone_engine::run::facts::{Base, Retention};

use super::World;

#[test]
fn what_is_recorded_is_read_back() {
    for changes in [
        &[][..],
        &[("mode: required", "mode: off")],
        &[("num_partitions: 4", "ranges: [{lower: 0, upper: 10}, {lower: 10, include_lower: true}, {null: true}]")],
    ] {
        let plan = World::with(changes).plan();
        let facts = plan.facts().unwrap();
        assert_eq!(Plan::from_document(&facts.document).unwrap(), plan);
        assert_eq!(facts.units as usize, plan.ranges.len());
        assert_eq!(facts.fingerprint, plan.fingerprint);
    }
}

#[test]
fn the_machine_learns_what_it_needs() {
    let mut world = World::with(&[("mode: required\n", "mode: required\n        consistency: immutable\n")]);
    world.target.base = "pub-7".into();
    world.target.base_run = Some("run-7".into());
    world.context.base_owner = Some("run-7".into());
    world.target.former = Some(Former { identity: "pub-6".into(), run: "run-6".into() });
    let facts = world.plan().facts().unwrap();
    assert_eq!(facts.base, Base { identity: "pub-7".into(), owner: Some("run-7".into()) });
    // What a run of another journal published is not this one's to remove.
    assert_eq!(facts.superseded, None);
    world.context.owns_former = true;
    assert_eq!(world.plan().facts().unwrap().superseded.as_deref(), Some("pub-6"));
    assert!(!facts.coverage_required);
    assert_eq!(facts.objects_after_success, Retention::Remove);
    assert_eq!(facts.objects_after_failure, Retention::Keep);
    let gaps = World::with(&[
        ("num_partitions: 4", "ranges: [{lower: 0, upper: 10}, {lower: 20, upper: 30}]"),
        ("mode: required\n", "mode: required\n        gap_policy: allow_explicit\n"),
    ]);
    assert!(!gaps.plan().facts().unwrap().coverage_required);
    assert!(World::new().plan().facts().unwrap().coverage_required);
    world.target.base_run = Some("run-8".into());
    assert_eq!(world.plan().facts().unwrap().base.owner, None);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let document = World::new().plan().facts().unwrap().document;
    let check = |text: &str, code: Code| {
        let refusal = Plan::from_document(text).unwrap_err();
        assert_eq!(refusal.code, code, "{refusal}");
        assert!(!refusal.to_string().contains("shop.db"));
    };
    check("", Code::JournalCorrupt);
    check("{}", Code::JournalCorrupt);
    check("[1]", Code::JournalCorrupt);
    check(&document.replace("\"version\":1", "\"version\":2"), Code::JournalNewer);
    check(&document.replace("\"ordinal\":0", "\"ordinal\":1"), Code::JournalCorrupt);
    check(&document.replace("\"ranges\":[", "\"ringes\":["), Code::JournalCorrupt);
    for end in (0..document.len()).filter(|end| document.is_char_boundary(*end)) {
        check(&document[..end], Code::JournalCorrupt);
    }
}
