//! RFC 5929's `tls-server-end-point`: the hash of the server's certificate that a password's proof is bound to.

use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// `1.2.840.113549.1.1`, RSA.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// `1.2.840.10045.4`, ECDSA.
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];

/// The hash, by the certificate's own signature algorithm; `None` if that has no single hash, or is not known here.
pub(super) fn end_point_hash(certificate: &[u8]) -> Option<Vec<u8>> {
    let (certificate_fields, _) = element(certificate, 0x30)?;
    let (_, rest) = element(certificate_fields, 0x30)?;
    let (algorithm, _) = element(rest, 0x30)?;
    let (oid, _) = element(algorithm, 0x06)?;
    let family = oid.strip_prefix(RSA).map(|rest| (0, rest)).or_else(|| oid.strip_prefix(ECDSA).map(|rest| (1, rest)));
    Some(match family? {
        // MD5 and SHA-1 are replaced by SHA-256.
        (0, [4 | 5 | 11]) | (1, [1] | [3, 2]) => Sha256::digest(certificate).to_vec(),
        (0, [12]) | (1, [3, 3]) => Sha384::digest(certificate).to_vec(),
        (0, [13]) | (1, [3, 4]) => Sha512::digest(certificate).to_vec(),
        _ => return None,
    })
}

/// The content of the DER element of that tag, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match *length {
        short @ ..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().fold(0_usize, |n, digit| n << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    if *first != tag { None } else { rest.split_at_checked(length) }
}

#[cfg(test)]
mod tests {
    use super::{ECDSA, RSA, end_point_hash};

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut element = vec![tag, 0x82];
        element.extend_from_slice(&u16::try_from(content.len()).unwrap_or(u16::MAX).to_be_bytes());
        element.extend_from_slice(content);
        element
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        let certificate = |oid: &[u8], end: &[u8]| {
            let algorithm = der(0x30, &der(0x06, &[oid, end].concat()));
            der(0x30, &[der(0x30, b"fields"), algorithm].concat())
        };
        let check = |oid: &[u8], end: &[u8], bytes: Option<usize>| {
            assert_eq!(end_point_hash(&certificate(oid, end)).map(|hash| hash.len()), bytes, "{end:?}");
        };
        for end in [4, 5, 11] {
            check(RSA, &[end], Some(32));
        }
        check(RSA, &[12], Some(48));
        check(RSA, &[13], Some(64));
        check(RSA, &[10], None);
        check(ECDSA, &[1], Some(32));
        check(ECDSA, &[3, 4], Some(64));
        check(&[0x2b], &[0x65, 0x70], None);
        for garbage in [b"".as_slice(), b"\x30", b"\x30\x84\xff\xff\xff\xff", b"\x30\x02\x30\x00", &[0x30; 64]] {
            assert_eq!(end_point_hash(garbage), None);
        }
    }
}
