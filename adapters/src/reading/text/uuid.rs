//! UUIDs in their 36-character form.

/// The 16 bytes in RFC 4122 order; letters of either case.
pub(crate) fn parse(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; 36] = text.try_into().ok()?;
    let mut bytes = [0_u8; 16];
    let mut digits = 0_usize;
    for (i, &c) in text.iter().enumerate() {
        if matches!(i, 8 | 13 | 18 | 23) {
            if c != b'-' {
                return None;
            }
            continue;
        }
        let digit = char::from(c).to_digit(16)? as u8;
        let byte = bytes.get_mut(digits / 2)?;
        *byte = *byte << 4 | digit;
        digits += 1;
    }
    Some(bytes)
}
