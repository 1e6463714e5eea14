#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow::datatypes::i256;
use bytes::Bytes;
use dpone_engine::manifest::parse_type;
use dpone_engine::schema::{Column, Schema};

use super::{Cell, File, InMemory, Unreadable};
use crate::body::Body;
use crate::columnar::{ChunkLayout, ChunkWriter};

fn schema(columns: &[(&str, &str)]) -> Schema {
    let column = |(name, ty): &(&str, &str)| Column {
        name: (*name).to_owned(),
        ty: parse_type(ty).unwrap(),
        nullable: true,
        declared: String::new(),
    };
    Schema { columns: columns.iter().map(column).collect() }
}

/// A file of those columns, cut into parts of so many bytes.
fn file(schema: &Schema, batches: &[Vec<ArrayRef>], row_group: u64, part: usize) -> Body {
    let layout = ChunkLayout::new(schema).unwrap();
    let mut writer = ChunkWriter::new(&layout, false, row_group).unwrap();
    for columns in batches {
        writer.write(&RecordBatch::try_new(Arc::clone(layout.arrow()), columns.clone()).unwrap()).unwrap();
    }
    let whole = writer.seal().unwrap().body.segments().concat();
    Body::new(whole.chunks(part).map(Bytes::copy_from_slice).collect())
}

/// Every cell, row by row.
fn cells(body: &Body, schema: &Schema) -> Vec<Vec<String>> {
    let mut rows = File::open(InMemory::from(body), schema).unwrap().into_rows().unwrap();
    let mut all = Vec::new();
    while let Some(window) = rows.next().unwrap() {
        for row in 0..window.rows() {
            let cells = (0..schema.columns.len()).map(|c| format!("{:?}", window.cell(c, row).unwrap()));
            all.push(cells.collect());
        }
    }
    all
}

#[test]
fn every_type_comes_back() {
    let decimal = |values: Vec<Option<i128>>, p, s| -> ArrayRef {
        Arc::new(Decimal128Array::from(values).with_precision_and_scale(p, s).unwrap())
    };
    let wide = |value: i256, p, s| -> ArrayRef {
        Arc::new(Decimal256Array::from(vec![Some(value), None]).with_precision_and_scale(p, s).unwrap())
    };
    let most = i256::from_string(&"9".repeat(76)).unwrap();
    let halves = |value: i256| Cell::WideDecimal([value.to_parts().0, value.to_parts().1 as u128]);
    let uuid = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some([7_u8; 16]), None].into_iter(), 16).unwrap();
    let given: Vec<(&str, ArrayRef, Cell<'_>)> = vec![
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None])), Cell::Bool(true)),
        ("int8", Arc::new(Int8Array::from(vec![Some(-128), None])), Cell::Int(-128)),
        ("int16", Arc::new(Int16Array::from(vec![Some(-1), None])), Cell::Int(-1)),
        ("int32", Arc::new(Int32Array::from(vec![Some(i32::MIN), None])), Cell::Int(i32::MIN.into())),
        ("int64", Arc::new(Int64Array::from(vec![Some(i64::MIN), None])), Cell::Int(i64::MIN)),
        ("uint8", Arc::new(UInt8Array::from(vec![Some(255), None])), Cell::UInt(255)),
        ("uint32", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None])), Cell::UInt(u32::MAX.into())),
        ("uint64", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])), Cell::UInt(u64::MAX)),
        ("float32", Arc::new(Float32Array::from(vec![Some(-0.0), None])), Cell::Float32(-0.0)),
        ("float64", Arc::new(Float64Array::from(vec![Some(f64::INFINITY), None])), Cell::Float64(f64::INFINITY)),
        ("decimal(9,2)", decimal(vec![Some(-12_345), None], 9, 2), Cell::Decimal(-12_345)),
        ("decimal(18,0)", decimal(vec![Some(-1), None], 18, 0), Cell::Decimal(-1)),
        ("decimal(38,5)", decimal(vec![Some(-(10_i128.pow(37))), None], 38, 5), Cell::Decimal(-(10_i128.pow(37)))),
        ("decimal(39,0)", wide(i256::MINUS_ONE, 39, 0), halves(i256::MINUS_ONE)),
        ("decimal(76,10)", wide(most, 76, 10), halves(most)),
        ("decimal(76,76)", wide(-most, 76, 76), halves(-most)),
        ("date", Arc::new(Date32Array::from(vec![Some(-719_162), None])), Cell::Date(-719_162)),
        ("time(3)", Arc::new(Time64MicrosecondArray::from(vec![Some(1_000), None])), Cell::Ticks(1)),
        ("timestamp(6)", Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None])), Cell::Ticks(-1)),
        ("timestamp(7)", Arc::new(TimestampNanosecondArray::from(vec![Some(-100), None])), Cell::Ticks(-1)),
        ("string", Arc::new(StringArray::from(vec![Some("a\0ö"), None])), Cell::Text("a\0ö")),
        ("binary", Arc::new(BinaryArray::from(vec![Some(&b"\xff"[..]), None])), Cell::Binary(b"\xff")),
        ("uuid", Arc::new(uuid), Cell::Uuid(&[7; 16])),
    ];
    let names: Vec<String> = (0..given.len()).map(|i| format!("c{i}")).collect();
    let columns: Vec<(&str, &str)> = names.iter().zip(&given).map(|(n, (ty, ..))| (n.as_str(), *ty)).collect();
    let schema = schema(&columns);
    let arrays: Vec<ArrayRef> = given.iter().map(|(_, array, _)| Arc::clone(array)).collect();
    for part in [1, 7, 1 << 20] {
        let rows = cells(&file(&schema, std::slice::from_ref(&arrays), u64::MAX, part), &schema);
        assert_eq!(rows.len(), 2);
        for ((ty, _, expect), (first, second)) in given.iter().zip(rows[0].iter().zip(&rows[1])) {
            assert_eq!((first.as_str(), second.as_str()), (format!("{expect:?}").as_str(), "Null"), "{ty}");
        }
    }
}

/// Pages of the columns end at different rows, row groups in the middle of a window, and some rows are NULL.
#[test]
fn rows_stay_together_wherever_pages_end() {
    let schema = schema(&[("id", "int64"), ("long", "string"), ("short", "string")]);
    let text = |id: i64| (id % 5 != 0).then(|| format!("{id}-{}", "x".repeat(id as usize * 37 % 900)));
    let batch = |ids: std::ops::Range<i64>| -> Vec<ArrayRef> {
        vec![
            Arc::new(ids.clone().map(Some).collect::<Int64Array>()),
            Arc::new(ids.clone().map(text).collect::<StringArray>()),
            Arc::new(ids.map(|id| Some(format!("s{}", id % 3))).collect::<StringArray>()),
        ]
    };
    let batches: Vec<_> = (0..40).map(|i| batch(i * 100..(i + 1) * 100)).collect();
    for (row_group, part) in [(u64::MAX, 4096), (200_000, 1 << 20), (1, 1 << 20)] {
        let rows = cells(&file(&schema, &batches, row_group, part), &schema);
        assert_eq!(rows.len(), 4000);
        for (id, row) in (0..).zip(&rows) {
            let long = text(id).map_or("Null".to_owned(), |t| format!("Text({t:?})"));
            assert_eq!(row, &[format!("Int({id})"), long, format!("Text(\"s{}\")", id % 3)]);
        }
    }
}

#[test]
fn what_little_stands_for_is_not_held() {
    let schema = schema(&[("s", "string")]);
    let text = "y".repeat(100_000);
    for distinct in [1, 1_000_000] {
        let batches: Vec<Vec<ArrayRef>> = (0..200)
            .map(|i| -> Vec<ArrayRef> { vec![Arc::new(StringArray::from(vec![format!("{}{text}", i % distinct)]))] })
            .collect();
        let body = file(&schema, &batches, u64::MAX, 1 << 20);
        let rows = File::open(InMemory::from(&body), &schema).unwrap().into_rows().unwrap();
        // 20 MB of text; pages are ended at 256 KiB.
        assert!((100_000..2 << 20).contains(&rows.peak()), "{} {}", distinct, rows.peak());
        assert_eq!(cells(&body, &schema).len(), 200);
    }
}

#[test]
fn what_is_not_the_planned_file_is_refused() {
    let planned = schema(&[("a", "int64"), ("b", "string")]);
    let column = || -> ArrayRef { Arc::new(Int64Array::from(vec![1])) };
    let open = |body: &Body| File::open(InMemory::from(body), &planned).map(|f| f.rows());
    for (columns, expect) in [
        (&[("a", "int64")][..], Unreadable::Columns(1, 2)),
        (&[("a", "int64"), ("b", "int64")], Unreadable::Column("b".into(), "text".into())),
        (&[("x", "int64"), ("b", "int64")], Unreadable::Column("a".into(), "int64".into())),
    ] {
        let other = schema(columns);
        let body = file(&other, &[columns.iter().map(|_| column()).collect()], u64::MAX, 1 << 20);
        let found = open(&body).unwrap_err();
        assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&expect), "{found}");
    }
    for bytes in [&b""[..], b"PAR1", b"PAR1 nothing PAR1"] {
        assert!(matches!(open(&Body::from(Bytes::copy_from_slice(bytes))), Err(Unreadable::Damaged(_))));
    }
}

/// Headers that were cut or changed are refused, and never make the reader go astray.
#[test]
fn damaged_pages_are_refused() {
    let schema = schema(&[("s", "string")]);
    let texts: ArrayRef = Arc::new((0..500).map(|i| Some(format!("text {i}"))).collect::<StringArray>());
    let whole = file(&schema, &[vec![texts]], u64::MAX, 1 << 20).segments().concat();
    for at in 4..60 {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            let body = Body::from(Bytes::from(changed));
            let mut rows = match File::open(InMemory::from(&body), &schema).and_then(File::into_rows) {
                Ok(rows) => rows,
                Err(_) => continue,
            };
            // What claims to be large is not admitted.
            if rows.peak() > 1 << 20 {
                continue;
            }
            while let Ok(Some(_)) = rows.next() {}
        }
    }
}
