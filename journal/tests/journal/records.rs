//! Records: what is written is read back, every version keeps its bytes for good, and no bytes do harm.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dpone_engine::codes::Code;
use dpone_engine::hex;
use dpone_engine::run::{EffectKind, Event, Key, Why};
use dpone_journal::record::{MAX_RECORD, Record, Unreadable, decode, encode};
use proptest::prelude::*;

use super::allocation::largest;
use super::samples;

#[test]
fn every_event_is_read_back_as_it_was() {
    for (name, event) in samples::events() {
        let record = encode(&event).unwrap();
        assert_eq!(decode(&record), Ok(event), "{name}");
    }
}

#[test]
fn every_code_is_read_back_as_it_was() {
    for &code in Code::ALL {
        let event = Event::Doubted { key: Key(1), why: Why::fatal(code, "") };
        assert_eq!(decode(&encode(&event).unwrap()), Ok(event));
    }
}

#[test]
fn samples_hold_every_kind() {
    let kinds: BTreeSet<_> = samples::events().iter().map(|(_, e)| e.kind()).collect();
    assert_eq!(kinds.len(), 13);
    let effects: BTreeSet<_> = samples::effects().iter().map(|e| e.kind()).collect();
    assert_eq!(effects.len(), EffectKind::ALL.len());
    let receipts: BTreeSet<_> = samples::receipts().iter().map(|r| r.kind()).collect();
    assert_eq!(receipts.len(), EffectKind::ALL.len());
}

/// The records of the samples in that version, where they have one.
fn in_version(version: u32) -> Vec<(String, Record)> {
    let record = |(name, event): (String, Event)| {
        let mut record = encode(&event).unwrap();
        if let (Event::Planned { plan, .. }, 1) = (&event, version) {
            // Version 2 has one optional text more, at its end.
            let more = 1 + plan.superseded.as_ref().map_or(0, |name| 8 + name.len());
            record.payload.truncate(record.payload.len() - more);
            record.version = 1;
        }
        (record.version == version).then_some((name, record))
    };
    samples::events().into_iter().filter_map(record).collect()
}

fn bytes_in_version(version: u32) -> String {
    let mut bytes = String::new();
    for (name, record) in in_version(version) {
        writeln!(bytes, "{name}\n  {} {} {}", record.kind, record.version, hex::encode(&record.payload)).unwrap();
    }
    bytes
}

/// If this differs, a record of version 1 has changed, and journals that exist cannot be read any more. Add a version.
#[test]
fn version_1_keeps_its_bytes() {
    insta::assert_snapshot!(bytes_in_version(1));
}

/// As for version 1.
#[test]
fn version_2_keeps_its_bytes() {
    insta::assert_snapshot!(bytes_in_version(2));
}

/// A run that was planned in version 1 removes the content that it replaced, if that was its journal's.
#[test]
fn plans_of_version_1_say_what_they_remove() {
    let read = |(_, record): (String, Record)| match decode(&record) {
        Ok(Event::Planned { plan, .. }) => Some((plan.base, plan.superseded)),
        _ => None,
    };
    let found: Vec<_> = in_version(1).into_iter().filter_map(read).collect();
    assert_eq!(found.len(), 2);
    for (base, superseded) in found {
        assert_eq!(superseded, base.owner.map(|_| base.identity));
    }
}

#[test]
fn what_a_newer_dpone_wrote_is_refused_by_name() {
    let known = encode(&Event::Closed).unwrap();
    let check = |record: Record, expect: &str| {
        let error = decode(&record).unwrap_err();
        assert!(matches!(error, Unreadable::Newer { .. } | Unreadable::NewerCode(_)), "{error}");
        assert_eq!(error.to_string(), expect);
    };
    check(
        Record { kind: "teleported".to_owned(), ..known.clone() },
        "record teleported version 1 was written by a newer dpone",
    );
    check(Record { version: 2, ..known.clone() }, "record closed version 2 was written by a newer dpone");
    check(Record { version: 0, ..known }, "record closed version 0 was written by a newer dpone");

    let mut doubted = encode(&Event::Doubted { key: Key(1), why: Why::fatal(Code::LeaseLost, "") }).unwrap();
    let at = doubted.payload.windows(10).position(|w| w == b"lease_lost").unwrap();
    doubted.payload[at..at + 10].copy_from_slice(b"lease_gone");
    check(doubted, "code \"lease_gone\" was written by a newer dpone");
}

#[test]
fn damaged_records_are_refused() {
    for (name, event) in samples::events() {
        let record = encode(&event).unwrap();
        let malformed = |payload: Vec<u8>| {
            let error = decode(&Record { payload, ..record.clone() }).unwrap_err();
            assert!(matches!(error, Unreadable::Malformed(_)), "{name}: {error}");
        };
        malformed([record.payload.as_slice(), &[0]].concat());
        for cut in 0..record.payload.len() {
            malformed(record.payload[..cut].to_vec());
        }
    }
    let check = |kind: &str, payload: &[u8]| {
        let error = decode(&Record { kind: kind.to_owned(), version: 1, payload: payload.to_vec() }).unwrap_err();
        assert!(matches!(error, Unreadable::Malformed(_)), "{kind}: {error}");
    };
    check("moved", &[11]); // no such state
    check("moved", &[255]);
    check("probed", &[1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]); // no such sighting
    check("intended", &[1, 0, 0, 0, 14, 0, 0, 0]); // no such effect
    check("intended", &[1, 0, 0, 0, 11, 0, 0, 0, 2]); // no such document
    check("halted", &[0xFF; 8]); // a text of 2^64 - 1 bytes
    check("closed", &vec![0; MAX_RECORD + 1]);
}

#[test]
fn an_event_larger_than_a_record_is_refused_when_it_is_written() {
    let check = |length: usize, whole: bool| {
        let event = Event::Deferred { name: "x".repeat(length), not_before: 0 };
        assert_eq!(encode(&event).is_ok(), whole, "{length}");
    };
    check(MAX_RECORD - 16, true);
    check(MAX_RECORD - 15, false);
    check(MAX_RECORD + 1, false);
}

/// A length inside a record may claim anything; what is allocated for it stays below the bound.
#[test]
fn no_bytes_make_a_decoder_allocate_without_bound() {
    let check = |kind: &str, payload: &[u8]| {
        let record = Record { kind: kind.to_owned(), version: 1, payload: payload.to_vec() };
        let most = largest(|| {
            let _ = decode(&record);
        });
        assert!(most <= MAX_RECORD, "{kind} {payload:?}: {most} bytes at once");
    };
    for claimed in [1_u64 << 20, (MAX_RECORD as u64) / 4, MAX_RECORD as u64, 1 << 40, u64::MAX] {
        let length = claimed.to_le_bytes();
        check("planned", &length);
        check("attempt_started", &[&[1, 0, 0, 0], length.as_slice()].concat());
        check("halted", &length);
        // Checked { gates }: confirmed, key, tag 8, length.
        check("confirmed", &[&[1, 0, 0, 0, 8, 0, 0, 0], length.as_slice()].concat());
        // Read { profile.columns }: confirmed, key, tag 3, chunks, source bytes, rows, checksum, length.
        check("confirmed", &[&[1, 0, 0, 0, 3, 0, 0, 0], [0; 36].as_slice(), length.as_slice()].concat());
    }
}

fn kinds() -> Vec<String> {
    let kinds: BTreeSet<String> = samples::events().iter().map(|(_, e)| encode(e).unwrap().kind).collect();
    kinds.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Arbitrary bytes are a record or are refused, and what is a record is written with the same bytes again.
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        kind in proptest::sample::select(kinds()),
        payload in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let version = if kind == "planned" { 2 } else { 1 };
        let record = Record { kind, version, payload };
        if let Ok(event) = decode(&record) {
            prop_assert_eq!(encode(&event).unwrap(), record);
        }
    }

    /// The same for records with some bytes changed, which get further into the decoder.
    #[test]
    fn changed_records_are_read_or_refused(
        sample in 0..samples::events().len(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut record = encode(&samples::events()[sample].1).unwrap();
        for (at, byte) in changes {
            let at = at.index(record.payload.len());
            record.payload[at] = byte;
        }
        if let Ok(event) = decode(&record) {
            prop_assert_eq!(encode(&event).unwrap(), record);
        }
    }

    #[test]
    fn arbitrary_texts_and_numbers_are_read_back(
        name in ".{0,40}", not_before in any::<u64>(), key in any::<u32>(), detail in ".{0,40}", transient in any::<bool>(),
    ) {
        for event in [
            Event::Deferred { name: name.clone(), not_before },
            Event::NotDone { key: Key(key), why: Why { code: Code::LoadFailed, detail, transient }, not_before },
        ] {
            prop_assert_eq!(decode(&encode(&event).unwrap()), Ok(event));
        }
    }
}
