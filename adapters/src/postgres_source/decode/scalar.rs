//! Forms of a fixed number of bytes, in network order, whose every pattern is a value.

use super::Fault;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $wire:ty as $value:ty;)*) => {
        $(
            $(#[$doc])*
            #[inline]
            pub(super) fn $name(field: &[u8]) -> Result<$value, Fault> {
                field.try_into().map(|bytes| <$value>::from(<$wire>::from_be_bytes(bytes))).map_err(|_| Fault::Form)
            }
        )*
    };
}

numbers! {
    /// `int2`.
    int16 = i16 as i64;
    /// `int4`.
    int32 = i32 as i64;
    /// `int8`.
    int64 = i64 as i64;
    /// `oid`.
    uint32 = u32 as u32;
    /// `float4`, bit for bit.
    float32 = f32 as f32;
    /// `float8`, bit for bit.
    float64 = f64 as f64;
}

/// `bool`: one byte.
#[inline]
pub(super) fn bool(field: &[u8]) -> Result<bool, Fault> {
    match field {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(Fault::Form),
    }
}

/// `uuid`: 16 bytes as they are written.
#[inline]
pub(super) fn uuid(field: &[u8]) -> Result<&[u8; 16], Fault> {
    field.try_into().map_err(|_| Fault::Form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_or_refused() {
        assert_eq!(int16(&[0x80, 0]), Ok(-32768));
        assert_eq!(int32(&[0xff, 0xff, 0xff, 0xfe]), Ok(-2));
        assert_eq!(int64(&i64::MIN.to_be_bytes()), Ok(i64::MIN));
        assert_eq!(uint32(&[0xff; 4]), Ok(u32::MAX));
        assert_eq!(float32(&(-0.0_f32).to_be_bytes()).map(f32::to_bits), Ok(0x8000_0000));
        let nan = f64::from_bits(0x7ff4_0000_0000_0001);
        assert_eq!(float64(&nan.to_be_bytes()).map(f64::to_bits), Ok(nan.to_bits()));
        assert_eq!(
            (bool(&[0]), bool(&[1]), bool(&[2]), bool(&[])),
            (Ok(false), Ok(true), Err(Fault::Form), Err(Fault::Form))
        );
        for wrong in [b"".as_slice(), &[0; 3], &[0; 5], &[0; 17]] {
            assert!(int16(wrong).is_err() && int32(wrong).is_err() && int64(wrong).is_err() && uuid(wrong).is_err());
            assert!(uint32(wrong).is_err() && float32(wrong).is_err() && float64(wrong).is_err());
        }
    }
}
