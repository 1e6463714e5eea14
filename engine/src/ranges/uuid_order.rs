//! The orders in which sources sort UUIDs.

/// How the source sorts UUIDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UuidOrder {
    /// In a way that is not known here.
    #[default]
    Unknown,
    /// By their bytes in RFC 4122 order.
    Bytes,
    /// As SQL Server compares `uniqueidentifier`: the last six bytes first.
    SqlServer,
}

/// The bytes in RFC 4122 order that SQL Server compares, the most significant first. It compares its own storage by the
/// bytes 10–15, 8–9, 6–7, 4–5, 0–3, and stores the first three groups with their low byte first.
const SQL_SERVER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0];

impl UuidOrder {
    /// Bytes that sort as the source sorts the UUID, of one in RFC 4122 order.
    pub fn sorted(self, uuid: &[u8; 16]) -> [u8; 16] {
        match self {
            Self::Unknown | Self::Bytes => *uuid,
            Self::SqlServer => SQL_SERVER.map(|at| uuid[at]),
        }
    }

    /// The UUID in RFC 4122 order of bytes that [`sorted`](Self::sorted) gave.
    pub(super) fn restored(self, sorted: &[u8; 16]) -> [u8; 16] {
        let mut uuid = *sorted;
        if self == Self::SqlServer {
            for (byte, at) in sorted.iter().zip(SQL_SERVER) {
                uuid[at] = *byte;
            }
        }
        uuid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts in the order that SQL Server's documentation of `SqlGuid` and of `uniqueidentifier` gives them.
    #[test]
    fn sql_server_compares_the_last_group_first() {
        let ascending: [u128; 10] = [
            0x00000000_0000_0000_0000_000000000000,
            0xffffffff_0000_0000_0000_000000000000,
            0x00000000_0100_0000_0000_000000000000,
            0x00000000_0001_0000_0000_000000000000,
            0x00000000_0000_0100_0000_000000000000,
            0x00000000_0000_0001_0000_000000000000,
            0x00000000_0000_0000_0001_000000000000,
            0x00000000_0000_0000_8000_000000000000,
            0xffffffff_ffff_ffff_ffff_000000000000,
            0x00000000_0000_0000_0000_ffffffffffff,
        ];
        let sorted = ascending.map(|v| UuidOrder::SqlServer.sorted(&v.to_be_bytes()));
        assert!(sorted.is_sorted_by(|a, b| a < b));
        // Within the first three groups the right byte counts for more.
        let pair =
            [0x02000000_u128 << 96, 0x00000001_u128 << 96].map(|v| UuidOrder::SqlServer.sorted(&v.to_be_bytes()));
        assert!(pair[0] < pair[1]);
    }

    #[test]
    fn no_byte_is_lost() {
        let uuid: [u8; 16] = std::array::from_fn(|i| i as u8);
        for order in [UuidOrder::Bytes, UuidOrder::SqlServer] {
            assert_eq!(order.restored(&order.sorted(&uuid)), uuid);
        }
    }
}
