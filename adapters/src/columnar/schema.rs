//! The run's schema in Arrow's and Parquet's terms.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef, TimeUnit};
use dpone_engine::schema::{LogicalType, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::LogicalType as ParquetType;
use parquet::schema::types::{SchemaDescriptor, Type};

use super::EncodeError;

/// The Arrow schema of that schema; nullability is kept.
///
/// # Errors
/// If a type has no exact form here: decimals of more than 76 digits.
pub fn arrow_schema(schema: &Schema) -> Result<SchemaRef, EncodeError> {
    let fields: Result<Vec<Field>, EncodeError> =
        schema.columns.iter().map(|c| Ok(Field::new(&c.name, data_type(&c.ty)?, c.nullable))).collect();
    Ok(Arc::new(ArrowSchema::new(fields?)))
}

/// The Parquet schema of that schema: physical types as narrow as the logical type allows, UUIDs marked as such.
///
/// # Errors
/// As [`arrow_schema`].
pub fn parquet_schema(schema: &Schema) -> Result<SchemaDescriptor, EncodeError> {
    let converted = ArrowSchemaConverter::new().convert(arrow_schema(schema)?.as_ref())?;
    let root = converted.root_schema();
    let fields: Result<Vec<_>, EncodeError> = schema
        .columns
        .iter()
        .zip(root.get_fields())
        .map(|(column, field)| if column.ty == LogicalType::Uuid { uuid_field(field) } else { Ok(field.clone()) })
        .collect();
    let root = Type::group_type_builder(root.name()).with_fields(fields?).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn uuid_field(field: &Type) -> Result<Arc<Type>, EncodeError> {
    let marked = Type::primitive_type_builder(field.name(), field.get_physical_type())
        .with_repetition(field.get_basic_info().repetition())
        .with_length(16)
        .with_logical_type(Some(ParquetType::Uuid))
        .build()?;
    Ok(Arc::new(marked))
}

fn data_type(ty: &LogicalType) -> Result<DataType, EncodeError> {
    Ok(match *ty {
        LogicalType::Bool => DataType::Boolean,
        LogicalType::Int { bits: 8 } => DataType::Int8,
        LogicalType::Int { bits: 16 } => DataType::Int16,
        LogicalType::Int { bits: 32 } => DataType::Int32,
        LogicalType::Int { bits: 64 } => DataType::Int64,
        LogicalType::UInt { bits: 8 } => DataType::UInt8,
        LogicalType::UInt { bits: 16 } => DataType::UInt16,
        LogicalType::UInt { bits: 32 } => DataType::UInt32,
        LogicalType::UInt { bits: 64 } => DataType::UInt64,
        LogicalType::Float { bits: 32 } => DataType::Float32,
        LogicalType::Float { bits: 64 } => DataType::Float64,
        LogicalType::Decimal { precision: precision @ 1..=38, scale } => {
            let scale = i8::try_from(scale).map_err(|_| EncodeError("a scale out of range".into()))?;
            DataType::Decimal128(precision, scale)
        }
        LogicalType::Decimal { precision: precision @ 39..=76, scale } => {
            let scale = i8::try_from(scale).map_err(|_| EncodeError("a scale out of range".into()))?;
            DataType::Decimal256(precision, scale)
        }
        LogicalType::Date => DataType::Date32,
        LogicalType::Time { digits } => DataType::Time64(unit(digits)),
        LogicalType::Timestamp { digits, utc } => DataType::Timestamp(unit(digits), utc.then(|| "UTC".into())),
        LogicalType::Text => DataType::Utf8,
        LogicalType::Binary => DataType::Binary,
        LogicalType::Uuid => DataType::FixedSizeBinary(16),
        LogicalType::Int { .. }
        | LogicalType::UInt { .. }
        | LogicalType::Float { .. }
        | LogicalType::Decimal { .. } => {
            return Err(EncodeError(format!("{ty} has no exact form in Parquet here")));
        }
    })
}

/// The coarsest unit of Parquet, from microseconds, that holds so many fractional digits.
fn unit(digits: u8) -> TimeUnit {
    if stored_digits(digits) == 6 { TimeUnit::Microsecond } else { TimeUnit::Nanosecond }
}

/// The fractional digits that times of so many are stored with. With 9 of them a timestamp of 64 bits ends in 2262.
pub const fn stored_digits(digits: u8) -> u8 {
    if digits <= 6 { 6 } else { 9 }
}
