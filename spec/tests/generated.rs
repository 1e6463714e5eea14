//! What is generated, recorded or told about the model agrees with it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;

use dpone_spec::model::invariants;
use dpone_spec::{generate, mutate};

#[test]
fn generated_files_are_fresh() {
    if std::env::var_os("UPDATE").is_some() {
        generate::write_all().unwrap();
    }
    for (path, content) in generate::all() {
        let there = fs::read_to_string(generate::root().join(path)).unwrap_or_default();
        assert!(there == content, "{path} is stale: run `cargo run -p dpone-spec -- generate`");
    }
}

#[test]
fn every_mutation_applies() {
    let mutations = mutate::recorded().unwrap();
    assert!(mutations.len() >= 20);
    for mutation in mutations {
        let source = fs::read_to_string(generate::root().parent().unwrap().join(&mutation.file)).unwrap();
        let found = source.matches(&mutation.find).count();
        assert_eq!(found, 1, "{}: its text occurs {found} times in {}", mutation.name, mutation.file);
        assert_ne!(mutation.find, mutation.replace, "{}", mutation.name);
    }
}

#[test]
fn every_invariant_is_told() {
    let told = fs::read_to_string(generate::root().join("invariants.md")).unwrap();
    for name in invariants::ALL {
        let number = name.split(' ').next().unwrap();
        assert!(told.contains(&format!("| {number} |")), "spec/invariants.md does not tell {name}");
    }
}
