#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::str::FromStr;

use serde::Deserialize;

use super::{RowChecksum, RowEncoder};
use crate::manifest::parse_type;
use crate::schema::LogicalType;

#[derive(Deserialize)]
struct Vectors {
    version: u32,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    types: Vec<String>,
    rows: Vec<Row>,
    checksum: String,
}

#[derive(Deserialize)]
struct Row {
    cells: Vec<Option<Cell>>,
    encoded: Option<String>,
    hash: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Bool(bool),
    Long { repeat: String, times: usize },
}

fn number<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Decimal text as 256-bit little-endian two's complement.
fn wide(text: &str) -> [u8; 32] {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let mut value = [0u8; 32];
    for digit in digits.bytes() {
        let mut carry = u16::from(digit - b'0');
        for byte in &mut value {
            carry += u16::from(*byte) * 10;
            *byte = carry as u8;
            carry >>= 8;
        }
    }
    if negative {
        let mut carry = true;
        for byte in &mut value {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    value
}

fn cell(encoder: &mut RowEncoder, ty: &LogicalType, cell: &Option<Cell>) {
    let text = match cell {
        None => return encoder.null(),
        Some(Cell::Bool(v)) => return encoder.bool(*v),
        Some(Cell::Text(text)) => text.clone(),
        Some(Cell::Long { repeat, times }) => repeat.repeat(*times),
    };
    match ty {
        LogicalType::Int { .. } => encoder.int(number(&text)),
        LogicalType::UInt { .. } => encoder.uint(number(&text)),
        LogicalType::Float { bits: 32 } => encoder.float32(f32::from_bits(u32::from_str_radix(&text, 16).unwrap())),
        LogicalType::Float { .. } => encoder.float64(f64::from_bits(u64::from_str_radix(&text, 16).unwrap())),
        LogicalType::Decimal { precision: ..=38, .. } => encoder.decimal(number(&text)),
        LogicalType::Decimal { .. } => encoder.wide_decimal(&wide(&text)),
        LogicalType::Date => encoder.date(number(&text)),
        LogicalType::Time { .. } | LogicalType::Timestamp { .. } => encoder.ticks(number(&text)),
        LogicalType::Text => encoder.text(&text),
        LogicalType::Binary => encoder.binary(&bytes(&text)),
        LogicalType::Uuid => encoder.uuid(&bytes(&text.replace('-', "")).try_into().unwrap()),
        LogicalType::Bool => panic!("a bool is a JSON bool"),
    }
}

#[test]
fn the_published_vectors_hold() {
    let vectors: Vectors = serde_json::from_str(include_str!("../../../spec/fidelity-vectors.json")).unwrap();
    assert_eq!(vectors.version, 2);
    assert!(vectors.cases.len() >= 9);
    let mut seen = [false; 13];
    for case in vectors.cases {
        let types: Vec<LogicalType> = case.types.iter().map(|t| parse_type(t).unwrap()).collect();
        let mut encoder = RowEncoder::new();
        for row in case.rows {
            assert_eq!(row.cells.len(), types.len());
            for (ty, value) in types.iter().zip(&row.cells) {
                let at = encoder.pending().len();
                cell(&mut encoder, ty, value);
                if let Some(tag) = encoder.pending().get(at) {
                    seen[usize::from(*tag)] = true;
                }
            }
            if let Some(encoded) = row.encoded {
                assert_eq!(encoder.pending(), bytes(&encoded), "{}", case.name);
            }
            assert_eq!(format!("{:032x}", encoder.finish_row()), row.hash, "{}", case.name);
        }
        assert_eq!(format!("{:032x}", encoder.checksum().0), case.checksum, "{}", case.name);
    }
    assert_eq!(seen, [true; 13], "every tag has a vector");
}

#[test]
fn a_large_row_has_the_same_hash_in_one_piece_and_in_many() {
    for sizes in [
        vec![10, 70_000, 10],
        vec![65_500, 65_500],
        vec![200_000],
        vec![0, 65_531, 1],
        vec![30_000; 9],
        vec![0; 3000],
        vec![3; 3001],
    ] {
        let mut encoder = RowEncoder::new();
        let mut whole = Vec::new();
        for (i, size) in sizes.into_iter().enumerate() {
            let value: Vec<u8> = (0..size).map(|j| (i + j) as u8).collect();
            encoder.binary(&value);
            encoder.int(i as i64);
            whole.push(super::tag::BINARY);
            whole.extend((size as u32).to_le_bytes());
            whole.extend(value);
            whole.push(super::tag::INT);
            whole.extend((i as i64).to_le_bytes());
        }
        assert!(encoder.pending().len() <= 16 * 1024);
        let expect = twox_hash::XxHash3_128::oneshot(&whole);
        assert_eq!(encoder.finish_row(), expect);
        // And the encoder is as new afterwards.
        encoder.int(1);
        let again = encoder.finish_row();
        let mut fresh = RowEncoder::new();
        fresh.int(1);
        assert_eq!(fresh.finish_row(), again);
    }
}

#[test]
fn equal_rows_add_up_where_xor_would_cancel_them() {
    let mut encoder = RowEncoder::new();
    let row = |encoder: &mut RowEncoder, v: &str| {
        encoder.text(v);
        encoder.finish_row()
    };
    let (a, b) = (row(&mut encoder, "x"), row(&mut encoder, "x"));
    assert_eq!((a ^ b, a == b), (0, true));
    assert_eq!(encoder.checksum(), RowChecksum(a.wrapping_add(a)));
    assert_ne!(encoder.checksum(), RowChecksum(0));
    let merged = RowChecksum(u128::MAX).merge(RowChecksum(2));
    assert_eq!(merged, RowChecksum(1));
}
