//! Rows by the block: bound buffers whose worst case is known, and reserved, before the driver fills them.

use odbc_api::Bit;
use odbc_api::buffers::{
    AnyColumnBufferSlice, BinColumnSlice, BufferDesc, ColumnarDynBuffer, NullableSlice, TextColumnSlice,
};
use odbc_api::sys::{Date, Timestamp};

use super::convert::Field;
use super::resolved::{Carrier, OdbcColumn};

/// What a driver that holds a number of rows may hold, in bytes: part of what each session takes whatever is read.
pub(super) const DRIVER_BYTES: u64 = 2 << 20;

/// What a row of bound columns takes.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    descs: Vec<BufferDesc>,
    /// Bytes of a row in the driver's buffers.
    pub(super) bound: u64,
    /// Bytes that the values of varying length of a row have at most, as they are delivered.
    pub(super) variable: u64,
}

impl Shape {
    /// The shape of those columns; `None` if one of them is read in pieces.
    pub(super) fn new(columns: &[OdbcColumn]) -> Option<Self> {
        let descs: Vec<BufferDesc> = columns.iter().map(|c| desc(c.carrier)).collect::<Option<_>>()?;
        let bound = descs.iter().map(|d| d.bytes_per_row() as u64).sum();
        let variable = columns.iter().map(|c| variable(c.carrier)).sum();
        Some(Self { descs, bound, variable })
    }

    /// Rows that a driver may hold for itself so that they take no more than [`DRIVER_BYTES`].
    pub(super) fn rows_held(&self) -> u64 {
        // Text as the server sends it, and as the driver keeps it.
        (DRIVER_BYTES / (2 * self.bound.max(64))).clamp(1, 4096)
    }

    /// Buffers for that many rows.
    pub(super) fn buffer(&self, rows: usize) -> ColumnarDynBuffer {
        ColumnarDynBuffer::from_descs(rows, self.descs.iter().copied())
    }
}

fn desc(carrier: Carrier) -> Option<BufferDesc> {
    let nullable = true;
    Some(match carrier {
        Carrier::Bit => BufferDesc::Bit { nullable },
        Carrier::UInt8 => BufferDesc::U8 { nullable },
        Carrier::Int16 => BufferDesc::I16 { nullable },
        Carrier::Int32 => BufferDesc::I32 { nullable },
        Carrier::Int64 => BufferDesc::I64 { nullable },
        Carrier::Float32 => BufferDesc::F32 { nullable },
        Carrier::Float64 => BufferDesc::F64 { nullable },
        Carrier::Date => BufferDesc::Date { nullable },
        Carrier::Timestamp => BufferDesc::Timestamp { nullable },
        Carrier::Ascii(n) => BufferDesc::Text { max_str_len: n as usize },
        Carrier::Wide(n) => BufferDesc::WText { max_str_len: n as usize },
        Carrier::Bytes(n) => BufferDesc::Binary { max_bytes: n as usize },
        Carrier::LongWide | Carrier::LongBytes => return None,
    })
}

/// Bytes that a value has at most once it is UTF-8: three for each UTF-16 unit.
pub(super) fn variable(carrier: Carrier) -> u64 {
    match carrier {
        Carrier::Ascii(n) | Carrier::Bytes(n) => n.into(),
        Carrier::Wide(n) => u64::from(n) * 3,
        _ => 0,
    }
}

/// One column of a block.
pub(super) enum View<'b> {
    Bit(NullableSlice<'b, Bit>),
    U8(NullableSlice<'b, u8>),
    I16(NullableSlice<'b, i16>),
    I32(NullableSlice<'b, i32>),
    I64(NullableSlice<'b, i64>),
    F32(NullableSlice<'b, f32>),
    F64(NullableSlice<'b, f64>),
    Date(NullableSlice<'b, Date>),
    Timestamp(NullableSlice<'b, Timestamp>),
    Ascii(TextColumnSlice<'b, u8>),
    Wide(TextColumnSlice<'b, u16>),
    Bytes(BinColumnSlice<'b>),
}

impl<'b> View<'b> {
    /// The column's buffer as what it is; `None` if it is another.
    pub(super) fn new(slice: AnyColumnBufferSlice<'b>, carrier: Carrier) -> Option<Self> {
        Some(match carrier {
            Carrier::Bit => Self::Bit(slice.as_nullable_slice()?),
            Carrier::UInt8 => Self::U8(slice.as_nullable_slice()?),
            Carrier::Int16 => Self::I16(slice.as_nullable_slice()?),
            Carrier::Int32 => Self::I32(slice.as_nullable_slice()?),
            Carrier::Int64 => Self::I64(slice.as_nullable_slice()?),
            Carrier::Float32 => Self::F32(slice.as_nullable_slice()?),
            Carrier::Float64 => Self::F64(slice.as_nullable_slice()?),
            Carrier::Date => Self::Date(slice.as_nullable_slice()?),
            Carrier::Timestamp => Self::Timestamp(slice.as_nullable_slice()?),
            Carrier::Ascii(_) => Self::Ascii(slice.as_text()?),
            Carrier::Wide(_) => Self::Wide(slice.as_wide_text()?),
            Carrier::Bytes(_) => Self::Bytes(slice.as_binary()?),
            Carrier::LongWide | Carrier::LongBytes => return None,
        })
    }

    /// The field in that row of the block.
    #[inline]
    pub(super) fn field(&self, row: usize) -> Field<'b> {
        match self {
            Self::Bit(v) => v.get(row).map_or(Field::Null, |v| Field::Int(i64::from(v.0))),
            Self::U8(v) => v.get(row).map_or(Field::Null, |v| Field::Int(i64::from(*v))),
            Self::I16(v) => v.get(row).map_or(Field::Null, |v| Field::Int(i64::from(*v))),
            Self::I32(v) => v.get(row).map_or(Field::Null, |v| Field::Int(i64::from(*v))),
            Self::I64(v) => v.get(row).map_or(Field::Null, |v| Field::Int(*v)),
            Self::F32(v) => v.get(row).map_or(Field::Null, |v| Field::Float32(*v)),
            Self::F64(v) => v.get(row).map_or(Field::Null, |v| Field::Float64(*v)),
            Self::Date(v) => v.get(row).map_or(Field::Null, Field::Date),
            Self::Timestamp(v) => v.get(row).map_or(Field::Null, Field::Timestamp),
            Self::Ascii(v) => v.get(row).map_or(Field::Null, Field::Ascii),
            Self::Wide(v) => v.get(row).map_or(Field::Null, Field::Wide),
            Self::Bytes(v) => v.get(row).map_or(Field::Null, Field::Bytes),
        }
    }
}
