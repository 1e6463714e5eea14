//! Rows with long values: one at a time, each long value read once its length is known and admitted.

use odbc_api::buffers::Indicator;
use odbc_api::parameter::{VarBinaryBox, VarCharBox, VarWCharBox};
use odbc_api::sys::{Date, Timestamp};
use odbc_api::{Bit, Nullable};

use super::convert::Field;
use super::resolved::{Carrier, OdbcColumn};
use crate::odbc::{OdbcError, Statement};

/// A value longer than this is not asked for: no text or blob of a database is.
const LONGEST: i64 = 2 << 30;

/// A field that was copied out of the driver.
pub(super) enum Owned {
    Null,
    Int(i64),
    Float32(f32),
    Float64(f64),
    Date(Date),
    Timestamp(Timestamp),
    Ascii(VarCharBox),
    Wide(VarWCharBox),
    Bytes(VarBinaryBox),
    /// A long value that has not been read: how many bytes it has at most, as the source says.
    Long(u64),
}

impl Owned {
    pub(super) fn field(&self) -> Field<'_> {
        match self {
            // A long value is read before its field is asked for.
            Self::Null | Self::Long(_) => Field::Null,
            Self::Int(v) => Field::Int(*v),
            Self::Float32(v) => Field::Float32(*v),
            Self::Float64(v) => Field::Float64(*v),
            Self::Date(v) => Field::Date(v),
            Self::Timestamp(v) => Field::Timestamp(v),
            Self::Ascii(v) => v.as_slice().map_or(Field::Null, Field::Ascii),
            Self::Wide(v) => v.as_slice().map_or(Field::Null, Field::Wide),
            Self::Bytes(v) => v.as_slice().map_or(Field::Null, Field::Bytes),
        }
    }
}

/// Where each column stands in the statement: the lengths of long values first, then what is short, then what is long.
/// Drivers give long values only behind everything else, and in this order.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Column numbers, from 1, of value and length.
    places: Vec<(u16, Option<u16>)>,
    carriers: Vec<Carrier>,
}

impl Order {
    /// The order of those columns, and the expressions of the statement.
    pub(super) fn new(columns: &[OdbcColumn]) -> (Self, Vec<&str>) {
        let mut expressions: Vec<&str> = Vec::new();
        let mut places = vec![(0_u16, None); columns.len()];
        let mut put = |expression| {
            expressions.push(expression);
            u16::try_from(expressions.len()).unwrap_or(u16::MAX)
        };
        for (place, column) in places.iter_mut().zip(columns) {
            place.1 = column.length.as_deref().map(&mut put);
        }
        for long in [false, true] {
            for (place, column) in places.iter_mut().zip(columns).filter(|(_, c)| c.carrier.is_long() == long) {
                place.0 = put(&column.expression);
            }
        }
        (Self { places, carriers: columns.iter().map(|c| c.carrier).collect() }, expressions)
    }

    /// The next row without its long values; false after the last.
    pub(super) fn next(&self, statement: &mut Statement<'_>, row: &mut Vec<Owned>) -> Result<bool, OdbcError> {
        if !statement.row()? {
            return Ok(false);
        }
        row.clear();
        row.resize_with(self.places.len(), || Owned::Null);
        // By number: drivers do not go back.
        for (cell, (_, length)) in row.iter_mut().zip(&self.places) {
            let Some(number) = length else { continue };
            let mut length = Nullable::<i64>::null();
            statement.field(*number, &mut length)?;
            *cell = match length.into_opt() {
                None => Owned::Null,
                Some(length @ 0..=LONGEST) => Owned::Long(length.unsigned_abs()),
                Some(_) => return Err(OdbcError::local("HY090", "a value's length is not one")),
            };
        }
        for ((cell, (number, _)), carrier) in row.iter_mut().zip(&self.places).zip(&self.carriers) {
            if !carrier.is_long() {
                *cell = short(statement, *number, *carrier)?;
            }
        }
        Ok(true)
    }

    /// Reads the long values of the row that [`Order::next`] has begun.
    pub(super) fn finish(&self, statement: &mut Statement<'_>, row: &mut [Owned]) -> Result<(), OdbcError> {
        for ((cell, (number, _)), carrier) in row.iter_mut().zip(&self.places).zip(&self.carriers) {
            let Owned::Long(length) = *cell else { continue };
            let length = usize::try_from(length).map_err(|_| OdbcError::local("HY090", "a value is too long"))?;
            *cell = match carrier {
                Carrier::LongWide => wide(statement, *number, length / 2)?,
                _ => bytes(statement, *number, length)?,
            };
        }
        Ok(())
    }
}

fn short(statement: &mut Statement<'_>, number: u16, carrier: Carrier) -> Result<Owned, OdbcError> {
    macro_rules! fixed {
        ($ty:ty, $variant:ident, $v:ident => $to:expr) => {{
            let mut value = Nullable::<$ty>::null();
            statement.field(number, &mut value)?;
            value.into_opt().map_or(Owned::Null, |$v| Owned::$variant($to))
        }};
    }
    Ok(match carrier {
        Carrier::Bit => fixed!(Bit, Int, v => i64::from(v.0)),
        Carrier::UInt8 => fixed!(u8, Int, v => i64::from(v)),
        Carrier::Int16 => fixed!(i16, Int, v => i64::from(v)),
        Carrier::Int32 => fixed!(i32, Int, v => i64::from(v)),
        Carrier::Int64 => fixed!(i64, Int, v => v),
        Carrier::Float32 => fixed!(f32, Float32, v => v),
        Carrier::Float64 => fixed!(f64, Float64, v => v),
        Carrier::Date => fixed!(Date, Date, v => v),
        Carrier::Timestamp => fixed!(Timestamp, Timestamp, v => v),
        Carrier::Ascii(n) => ascii(statement, number, n as usize)?,
        Carrier::Wide(n) => wide(statement, number, n as usize)?,
        Carrier::Bytes(n) => bytes(statement, number, n as usize)?,
        Carrier::LongWide | Carrier::LongBytes => Owned::Null,
    })
}

/// The failure of a value that is longer than was said.
fn longer() -> OdbcError {
    OdbcError::local("01004", "a value is longer than its column, or than the source said it is")
}

fn ascii(statement: &mut Statement<'_>, number: u16, most: usize) -> Result<Owned, OdbcError> {
    let mut cell = VarCharBox::from_buffer(vec![0; most + 1].into_boxed_slice(), Indicator::NoTotal);
    statement.field(number, &mut cell)?;
    if cell.is_complete() { Ok(Owned::Ascii(cell)) } else { Err(longer()) }
}

fn wide(statement: &mut Statement<'_>, number: u16, units: usize) -> Result<Owned, OdbcError> {
    let mut cell = VarWCharBox::from_buffer(vec![0; units + 1].into_boxed_slice(), Indicator::NoTotal);
    statement.field(number, &mut cell)?;
    if cell.is_complete() { Ok(Owned::Wide(cell)) } else { Err(longer()) }
}

fn bytes(statement: &mut Statement<'_>, number: u16, most: usize) -> Result<Owned, OdbcError> {
    // One byte more, so that a driver has somewhere to write even to an empty value.
    let mut cell = VarBinaryBox::from_buffer(vec![0; most + 1].into_boxed_slice(), Indicator::NoTotal);
    statement.field(number, &mut cell)?;
    if cell.is_complete() { Ok(Owned::Bytes(cell)) } else { Err(longer()) }
}
