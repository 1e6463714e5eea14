//! The files that are written: every page has a checksum that readers hold it against, and the footer says where it is.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, i256};
use bytes::Bytes;
use dpone_adapters::columnar::{BatchBuilder, ChunkLayout, ChunkWriter};
use dpone_engine::schema::{Column, LogicalType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};

const ROWS: usize = 30_000;
const BATCH: usize = 10_000;

fn schema() -> Schema {
    let column = |name: &str, ty, nullable| Column { name: name.into(), ty, nullable, declared: String::new() };
    Schema {
        columns: vec![
            column("id", LogicalType::Int { bits: 64 }, false),
            column("name", LogicalType::Text, true),
            column("blob", LogicalType::Binary, true),
        ],
    }
}

fn batch(from: usize) -> RecordBatch {
    let schema = schema();
    let layout = ChunkLayout::new(&schema).unwrap();
    let mut rows = BatchBuilder::new(&schema, layout.arrow(), BATCH, |_| 0).unwrap();
    for i in from..from + BATCH {
        let [id, name, blob] = rows.columns() else { panic!("three columns") };
        assert!(id.int(i as i64));
        match i % 7 {
            0 => name.null(),
            _ => assert!(name.text(&format!("name {}", i % 50))),
        }
        match i % 3 {
            0 => blob.null(),
            _ => assert!(blob.binary(&i.to_le_bytes())),
        }
        rows.end_row(16);
    }
    rows.finish().unwrap()
}

/// A file of several row groups, with and without dictionaries.
fn file(large: bool, row_group: u64) -> Bytes {
    let layout = ChunkLayout::new(&schema()).unwrap();
    let mut writer = ChunkWriter::new(&layout, large, row_group).unwrap();
    for from in (0..ROWS).step_by(BATCH) {
        writer.write(&batch(from)).unwrap();
    }
    let sealed = writer.seal().unwrap();
    assert_eq!(sealed.facts.rows, ROWS as u64);
    let bytes: Bytes = sealed.body.segments().concat().into();
    assert_eq!(bytes.len() as u64, sealed.facts.bytes);
    bytes
}

fn read(file: Bytes) -> Result<Vec<RecordBatch>, String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| e.to_string())?;
    reader.build().map_err(|e| e.to_string())?.map(|batch| batch.map_err(|e| e.to_string())).collect()
}

#[test]
fn rows_come_back_as_they_were_written() {
    for (large, row_group, groups) in [(false, u64::MAX, 1), (true, u64::MAX, 1), (false, 1, 3), (true, 1, 3)] {
        let file = file(large, row_group);
        assert_eq!(SerializedFileReader::new(file.clone()).unwrap().metadata().num_row_groups(), groups);
        let mut next = 0;
        for batch in read(file).unwrap() {
            for i in 0..batch.num_rows() {
                assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(i), next as i64);
                let name = batch.column(1).as_string::<i32>();
                let expected = (next % 7 != 0).then(|| format!("name {}", next % 50));
                assert_eq!(batch.column(1).is_valid(i).then(|| name.value(i)), expected.as_deref());
                next += 1;
            }
        }
        assert_eq!(next, ROWS);
    }
}

#[test]
fn a_changed_byte_of_any_page_is_found() {
    let file = file(false, 1);
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let mut dictionaries = 0;
    for group in reader.metadata().row_groups() {
        for column in group.columns() {
            let (start, length) = column.byte_range();
            // The last byte of a column chunk is one of its last page; the one before the first data page, of the dictionary.
            let mut places = vec![start + length - 1];
            if let Some(dictionary) = column.dictionary_page_offset() {
                assert_eq!(dictionary as u64, start);
                places.push(column.data_page_offset() as u64 - 1);
                dictionaries += 1;
            }
            for place in places {
                let mut damaged = file.to_vec();
                damaged[place as usize] ^= 1;
                let error = read(damaged.into()).expect_err("the damage is seen");
                assert!(error.contains("CRC"), "{}: {error}", column.column_path());
            }
        }
    }
    assert_eq!(dictionaries, 3);
}

/// Readers leave out row groups by these: -1 must not be taken for the greatest of all.
#[test]
fn extremes_of_wide_decimals_have_a_sign() {
    let most = i256::from_string(&"9".repeat(76)).unwrap();
    let (zero, one, minus) = (i256::ZERO, i256::ONE, i256::MINUS_ONE);
    for (values, least, greatest) in [([zero, minus, one], minus, one), ([-most, minus, -most], -most, minus)] {
        let ty = LogicalType::Decimal { precision: 76, scale: 10 };
        let schema =
            Schema { columns: vec![Column { name: "d".into(), ty, nullable: false, declared: String::new() }] };
        let layout = ChunkLayout::new(&schema).unwrap();
        let mut writer = ChunkWriter::new(&layout, false, u64::MAX).unwrap();
        for value in values {
            // A batch of its own, so that extremes of pages are held against each other.
            let mut rows = BatchBuilder::new(&schema, layout.arrow(), 1, |_| 0).unwrap();
            assert!(rows.columns()[0].wide_decimal(&value.to_le_bytes()));
            rows.end_row(0);
            writer.write(&rows.finish().unwrap()).unwrap();
        }
        let bytes: Bytes = writer.seal().unwrap().body.segments().concat().into();
        let reader = SerializedFileReader::new(bytes).unwrap();
        let statistics = reader.metadata().row_group(0).column(0).statistics().unwrap().clone();
        assert_eq!(statistics.min_bytes_opt().unwrap(), least.to_be_bytes());
        assert_eq!(statistics.max_bytes_opt().unwrap(), greatest.to_be_bytes());
    }
}
