use dpone_engine::manifest::{Manifest, parse};
use proptest::prelude::*;

use super::{BASE, shown};

/// Words of manifests and of YAML, so that random texts get past the first character.
const WORDS: &[&str] = &[
    "name",
    "source",
    "sink",
    "type",
    "sqlite",
    "path",
    "table",
    "query",
    "options",
    "columns",
    "partitioning",
    "ranges",
    "lower",
    "upper",
    "null",
    "bounds",
    "auto",
    "off",
    "mode",
    "range_parallelism",
    "max_inflight_bytes",
    "64MiB",
    "-1",
    "99999999999999999999999",
    "1e999",
    ".nan",
    "~",
    "&a",
    "*a",
    "<<",
    ":",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\n",
    "\n  ",
    "\n    ",
    "'",
    "\"",
    "|",
    ">",
    "#",
    "!!str",
    "---",
    "\t",
    "\u{feff}",
    "é",
    "\u{0}",
    "\u{1b}",
    "password",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        answered(&text);
    }

    #[test]
    fn any_yaml_like_text_is_answered(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        answered(&words.concat());
    }

    #[test]
    fn a_damaged_manifest_is_answered(at in 0..BASE.len(), len in 0usize..30, word in prop::sample::select(WORDS)) {
        let end = (at + len).min(BASE.len());
        answered(&format!("{}{word}{}", &BASE[..at], &BASE[end..]));
    }

    /// Whatever a manifest says, its canonical form says the same.
    #[test]
    fn what_is_accepted_reads_back(readers in 1u32..=64, parts in 1u32..=10_000, bytes in 1u64..(1 << 40), column in "[^\\p{Cc}'\\\\]{1,20}") {
        let text = BASE
            .replace("reader_workers: 4", &format!("reader_workers: {readers}\n        max_inflight_bytes: {bytes}"))
            .replace("num_partitions: 8", &format!("num_partitions: {parts}"))
            .replace("column: id", &format!("column: '{column}'"));
        let manifest = parse(&text, "m.yaml").map_err(|r| TestCaseError::fail(shown(&r)))?;
        prop_assert_eq!(manifest.ranges.column.as_deref(), Some(column.as_str()));
        prop_assert_eq!(manifest.ranges.max_inflight_bytes, bytes);
        let json = manifest.canonical_json().unwrap();
        prop_assert_eq!(Manifest::from_canonical_json(&json).unwrap(), manifest);
    }
}

/// Either a manifest or complete refusals; never a panic, never an internal error.
fn answered(text: &str) {
    if let Err(refusals) = parse(text, "m.yaml") {
        assert!(!refusals.is_empty());
        for refusal in &refusals {
            assert!(refusal.place.is_some() && refusal.fix.is_some(), "{refusal:?}");
            assert_ne!(refusal.code.as_str(), "internal_error", "{text}");
            assert!(!shown(std::slice::from_ref(refusal)).chars().any(|c| c.is_control() && c != '\n'), "{refusal:?}");
        }
    }
}
