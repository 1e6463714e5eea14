//! The rows of a Parquet file as texts that show every bit.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType, UInt8Type,
    UInt32Type, UInt64Type,
};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

pub(crate) fn decode(bytes: Vec<u8>) -> Vec<Vec<String>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap().build().unwrap();
    reader.flat_map(|batch| rows_of(&batch.unwrap())).collect()
}

fn rows_of(batch: &RecordBatch) -> Vec<Vec<String>> {
    (0..batch.num_rows()).map(|row| batch.columns().iter().map(|column| cell(column, row)).collect()).collect()
}

fn cell(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".into();
    }
    match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Int8 => column.as_primitive::<Int8Type>().value(row).to_string(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float32 => format!("{:?}", column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(_, scale) => {
            format!("{}e-{scale}", column.as_primitive::<Decimal128Type>().value(row))
        }
        DataType::Decimal256(_, scale) => {
            format!("{}e-{scale}", column.as_primitive::<Decimal256Type>().value(row))
        }
        DataType::Date32 => format!("day {}", column.as_primitive::<Date32Type>().value(row)),
        DataType::Time64(TimeUnit::Microsecond) => {
            format!("{}us", column.as_primitive::<Time64MicrosecondType>().value(row))
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let zone = zone.as_deref().unwrap_or_default();
            format!("{}us{zone}", column.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            format!("{}ns", column.as_primitive::<TimestampNanosecondType>().value(row))
        }
        DataType::Utf8 => format!("{:?}", column.as_string::<i32>().value(row)),
        DataType::Binary => format!("{:02x?}", column.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(16) => format!("{:02x?}", column.as_fixed_size_binary().value(row)),
        other => panic!("{other}"),
    }
}
