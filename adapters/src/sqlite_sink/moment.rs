//! Values of other types that staging holds as text, read back.

use dpone_engine::ranges::parse_value;
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

/// The value that a text of staging stands for; `None` if it is none of that type.
pub(super) fn read(ty: &LogicalType, text: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    match ty {
        LogicalType::Uuid => uuid(text).map(Value::Uuid),
        // A time of day is the time of the first day.
        LogicalType::Time { digits } => {
            let first = LogicalType::Timestamp { digits: *digits, utc: false };
            parse_value(&first, &format!("1970-01-01T{text}")).ok()
        }
        _ => parse_value(ty, text).ok(),
    }
}

/// The canonical 36 characters.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = text.as_bytes();
    let dashes = [8, 13, 18, 23];
    if bytes.len() != 36 || dashes.iter().any(|&at| bytes[at] != b'-') {
        return None;
    }
    let digits: Vec<u8> = (0..36).filter(|at| !dashes.contains(at)).map(|at| bytes[at]).collect();
    let mut value = [0; 16];
    for (byte, pair) in value.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |c: u8| char::from(c).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_the_values_they_were_rendered_from() {
        let time = LogicalType::Time { digits: 3 };
        let ticks = |ticks| Some(Value::Ticks { ticks, digits: 3 });
        let mut id = [0xab; 16];
        id[0] = 0x01;
        for (ty, text, value) in [
            (&time, "00:00:00.000", ticks(0)),
            (&time, "23:59:59.999", ticks(86_399_999)),
            (&time, "24:00:00.000", None),
            (&time, "12:00", None),
            (&LogicalType::Uuid, "01ababab-abab-abab-abab-abababababab", Some(Value::Uuid(id))),
            (&LogicalType::Uuid, "01ababab-abab-abab-ababaabababababab", None),
            (&LogicalType::Uuid, "x1ababab-abab-abab-abab-abababababab", None),
            (&LogicalType::Uuid, "01ababab-abab-abab-abab-ababababab", None),
            (&LogicalType::Date, "2024-02-30", None),
        ] {
            assert!(read(ty, text.as_bytes()) == value, "{text}");
        }
    }
}
