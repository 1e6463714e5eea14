//! Text: UTF-16 from drivers that speak it, ASCII where nothing else can be.

use super::Field;
use crate::reading::Fault;

/// The text as UTF-8. What is not valid UTF-16 is a fault, and so is a byte above ASCII where only ASCII was planned.
#[inline]
pub(super) fn read<'a>(field: Field<'a>, room: &'a mut String) -> Result<&'a str, Fault> {
    match field {
        Field::Wide(units) => {
            room.clear();
            // Most texts are ASCII, which needs no decoding.
            if units.iter().all(|unit| *unit < 0x80) {
                room.extend(units.iter().map(|unit| char::from(*unit as u8)));
                return Ok(room);
            }
            for character in char::decode_utf16(units.iter().copied()) {
                room.push(character.map_err(|_| Fault::Encoding)?);
            }
            Ok(room)
        }
        Field::Ascii(bytes) if bytes.is_ascii() => std::str::from_utf8(bytes).map_err(|_| Fault::Encoding),
        Field::Ascii(_) => Err(Fault::Encoding),
        _ => Err(Fault::Form),
    }
}
