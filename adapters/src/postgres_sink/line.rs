//! One row of a `COPY … TO STDOUT` in text: fields between tabs, `\N` for NULL, and what would be ambiguous escaped.

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    Null,
    /// The value, without escapes.
    Value(&'a [u8]),
}

/// The fields of a row, without its end of line.
pub(super) fn fields(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    row.split(|byte| *byte == b'\t')
}

/// What a field holds; `None` if its escapes are not the server's. `room` takes what had escapes.
pub(super) fn read<'a>(field: &'a [u8], room: &'a mut Vec<u8>) -> Option<Field<'a>> {
    if field == b"\\N" {
        return Some(Field::Null);
    }
    if !field.contains(&b'\\') {
        return Some(Field::Value(field));
    }
    room.clear();
    let mut rest = field;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        room.extend_from_slice(&rest[..at]);
        room.push(match rest.get(at + 1)? {
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'\\' => b'\\',
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    room.extend_from_slice(rest);
    Some(Field::Value(room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        for (field, expect) in [
            (&b"\\N"[..], Some(Field::Null)),
            (b"", Some(Field::Value(b""))),
            (b"plain", Some(Field::Value(b"plain"))),
            (b"\\\\N", Some(Field::Value(b"\\N"))),
            (b"a\\tb\\nc\\\\\\r\\b\\f\\v", Some(Field::Value(b"a\tb\nc\\\r\x08\x0c\x0b"))),
            (b"\\x41", None),
            (b"end\\", None),
        ] {
            assert_eq!(read(field, &mut Vec::new()), expect, "{field:?}");
        }
        assert_eq!(fields(b"a\t\t\\N").collect::<Vec<_>>(), [&b"a"[..], b"", b"\\N"]);
    }
}
