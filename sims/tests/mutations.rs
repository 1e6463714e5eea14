//! Every planted defect still has its place, and something found it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

use dpone_sims::mutation::ALL;

#[test]
fn every_defect_can_still_be_planted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut names = BTreeSet::new();
    for mutation in ALL {
        assert!(names.insert(mutation.name), "{} is there twice", mutation.name);
        for edit in mutation.edits {
            let text = std::fs::read_to_string(root.join(edit.file)).unwrap();
            assert!(edit.apply(&text).is_some(), "{}: {} lacks, or repeats: {}", mutation.name, edit.file, edit.find);
        }
    }
    assert!(names.len() >= 20);
}

#[test]
fn every_defect_was_found() {
    let table = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/mutations.md")).unwrap();
    for mutation in ALL {
        let row = table.lines().find(|l| l.starts_with(&format!("| {} |", mutation.name)));
        assert!(row.is_some_and(|r| !r.contains("**nothing**")), "{}: run `mutate`", mutation.name);
    }
}
