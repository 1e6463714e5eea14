//! From a decoded cell to a field of `COPY … (FORMAT binary)`, exactly or not at all.

use dpone_engine::codes::Code;
use dpone_engine::run::Why;
use dpone_engine::schema::{Column, LogicalType};

use super::numeric;
use super::session::Step;
use crate::columnar::decode::{Cell, wide_bytes};

/// What a COPY begins and ends with.
pub(super) const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
pub(super) const TRAILER: &[u8] = &[0xff, 0xff];

/// Days from 1970-01-01 to 2000-01-01, where the server counts from. The least number of days and of microseconds are its
/// infinities.
const EPOCH_DAYS: i32 = 10_957;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Bytes of a value that are sent after what was appended, without a copy of them.
pub(super) type Long<'a> = Option<&'a [u8]>;

/// Appends a field. The bytes of a text or binary value are answered instead: they follow the field's length.
///
/// # Errors
/// `text_unsupported_by_target` for a text with a zero byte; `load_failed` if the cell is not of the planned type or beyond
/// what the server's type can hold.
pub(super) fn field<'a>(cell: Cell<'a>, column: &Column, to: &mut Vec<u8>) -> Step<Long<'a>> {
    let other = || unexpected(&column.name);
    match (cell, &column.ty) {
        (Cell::Null, _) => to.extend((-1_i32).to_be_bytes()),
        (Cell::Bool(v), _) => fixed(&[u8::from(v)], to),
        (Cell::Int(v), LogicalType::Int { bits: 8 | 16 }) => fixed(&narrow::<i16>(v, column)?.to_be_bytes(), to),
        (Cell::Int(v), LogicalType::Int { bits: 32 }) => fixed(&narrow::<i32>(v, column)?.to_be_bytes(), to),
        (Cell::Int(v), _) => fixed(&v.to_be_bytes(), to),
        (Cell::UInt(v), LogicalType::UInt { bits: 8 }) => fixed(&narrow::<i16>(v, column)?.to_be_bytes(), to),
        (Cell::UInt(v), LogicalType::UInt { bits: 16 }) => fixed(&narrow::<i32>(v, column)?.to_be_bytes(), to),
        (Cell::UInt(v), LogicalType::UInt { bits: 32 }) => fixed(&narrow::<i64>(v, column)?.to_be_bytes(), to),
        (Cell::UInt(v), _) => numeric::push(v.into(), 0, to),
        (Cell::Float32(v), _) => fixed(&v.to_bits().to_be_bytes(), to),
        (Cell::Float64(v), _) => fixed(&v.to_bits().to_be_bytes(), to),
        (Cell::Decimal(v), LogicalType::Decimal { scale, .. }) => numeric::push(v, *scale, to),
        (Cell::WideDecimal(v), LogicalType::Decimal { scale, .. }) => numeric::push_wide(&wide_bytes(v), *scale, to),
        (Cell::Date(v), _) => {
            let since = v.checked_sub(EPOCH_DAYS).filter(|v| *v != i32::MIN).ok_or_else(other)?;
            fixed(&since.to_be_bytes(), to);
        }
        (Cell::Ticks(v), LogicalType::Time { digits }) => {
            fixed(&micros(v, *digits).ok_or_else(other)?.to_be_bytes(), to);
        }
        (Cell::Ticks(v), LogicalType::Timestamp { digits, .. }) => {
            let epoch = i64::from(EPOCH_DAYS) * MICROS_PER_DAY;
            let since = micros(v, *digits).and_then(|v| v.checked_sub(epoch));
            let since = since.filter(|v| *v != i64::MIN).ok_or_else(other)?;
            fixed(&since.to_be_bytes(), to);
        }
        (Cell::Text(v), _) if v.as_bytes().contains(&0) => {
            let detail =
                format!("column {:?} holds a text with a zero byte, which PostgreSQL cannot store", column.name);
            return Err(Why::fatal(Code::TextUnsupportedByTarget, detail));
        }
        (Cell::Text(v), _) => return long(v.as_bytes(), column, to),
        (Cell::Binary(v), _) => return long(v, column, to),
        (Cell::Uuid(v), _) => fixed(v, to),
        (Cell::Decimal(_) | Cell::WideDecimal(_) | Cell::Ticks(_), _) => return Err(other()),
    }
    Ok(None)
}

fn fixed(bytes: &[u8], to: &mut Vec<u8>) {
    to.extend((bytes.len() as i32).to_be_bytes());
    to.extend(bytes);
}

fn long<'a>(bytes: &'a [u8], column: &Column, to: &mut Vec<u8>) -> Step<Long<'a>> {
    let length = i32::try_from(bytes.len()).map_err(|_| unexpected(&column.name))?;
    to.extend(length.to_be_bytes());
    Ok(Some(bytes))
}

fn narrow<T>(v: impl TryInto<T>, column: &Column) -> Step<T> {
    v.try_into().map_err(|_| unexpected(&column.name))
}

/// Ticks of so many digits in microseconds.
fn micros(ticks: i64, digits: u8) -> Option<i64> {
    ticks.checked_mul(10_i64.checked_pow(u32::from(6_u8.checked_sub(digits)?))?)
}

pub(super) fn unexpected(column: &str) -> Why {
    Why::fatal(
        Code::LoadFailed,
        format!("column {column:?} of an object holds something that is not of the planned type"),
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    #[test]
    fn what_the_server_would_take_for_another_value_is_refused() {
        let check = |ty: LogicalType, cell: Cell<'_>, expect: Result<usize, Code>| {
            let column = Column { name: "c".to_owned(), nullable: true, declared: String::new(), ty };
            let mut to = Vec::new();
            let found = field(cell, &column, &mut to).map(|_| to.len()).map_err(|why| why.code);
            assert_eq!(found, expect, "{} {cell:?}", column.ty);
        };
        let stamp = LogicalType::Timestamp { digits: 6, utc: false };
        check(LogicalType::Date, Cell::Date(i32::MAX), Ok(8));
        check(LogicalType::Date, Cell::Date(i32::MIN + EPOCH_DAYS + 1), Ok(8));
        check(LogicalType::Date, Cell::Date(i32::MIN + EPOCH_DAYS), Err(Code::LoadFailed));
        check(LogicalType::Date, Cell::Date(i32::MIN), Err(Code::LoadFailed));
        check(stamp.clone(), Cell::Ticks(i64::MAX), Ok(12));
        check(stamp.clone(), Cell::Ticks(i64::MIN + i64::from(EPOCH_DAYS) * MICROS_PER_DAY), Err(Code::LoadFailed));
        check(LogicalType::Timestamp { digits: 0, utc: true }, Cell::Ticks(i64::MAX), Err(Code::LoadFailed));
        check(LogicalType::Int { bits: 16 }, Cell::Int(40_000), Err(Code::LoadFailed));
        check(LogicalType::Text, Cell::Text("a\0"), Err(Code::TextUnsupportedByTarget));
        check(LogicalType::Text, Cell::Ticks(1), Err(Code::LoadFailed));
        let column = Column { name: "c".into(), nullable: true, declared: String::new(), ty: LogicalType::Text };
        assert_eq!(field(Cell::Text("ab"), &column, &mut Vec::new()).unwrap(), Some(&b"ab"[..]));
    }
}
