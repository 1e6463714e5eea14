//! Bytes of a database without an encoding, which the manifest says are ISO 8859-1.

use super::Fault;

/// The text, in the room given.
pub(super) fn read<'a>(field: &[u8], room: &'a mut String) -> Result<&'a str, Fault> {
    room.clear();
    room.reserve_exact(field.iter().map(|byte| 1 + usize::from(*byte >= 0x80)).sum());
    room.extend(field.iter().copied().map(char::from));
    Ok(room)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_is_a_character() {
        let all: Vec<u8> = (0..=255).collect();
        let mut room = String::new();
        let text = super::read(&all, &mut room).unwrap_or_default();
        assert!(text.chars().map(u32::from).eq(0..=255));
        assert_eq!(super::read(b"", &mut room), Ok(""));
    }
}
