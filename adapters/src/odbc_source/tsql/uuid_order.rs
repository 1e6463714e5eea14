//! Whether the server sorts `uniqueidentifier` as it is known to: asked, not taken for granted.

use dpone_engine::ranges::{UuidOrder, parse_value, render_value};
use dpone_engine::schema::LogicalType;
use dpone_engine::value::Value;

use super::Ask;
use crate::odbc::OdbcError;

/// Asks the server to sort values that differ in one byte each.
pub(super) fn is_known(ask: &mut impl Ask) -> Result<bool, OdbcError> {
    let literal = |uuid: &[u8; 16]| {
        let text = render_value(&LogicalType::Uuid, &Value::Uuid(*uuid));
        format!("(CONVERT(uniqueidentifier, '{text}'))")
    };
    let values: Vec<String> = probes().iter().map(literal).collect();
    let sql = format!("SELECT CONVERT(char(36), v.u) FROM (VALUES {}) AS v(u) ORDER BY v.u", values.join(", "));
    let rows = ask.ask(&sql)?;
    let uuid = |text: &str| match parse_value(&LogicalType::Uuid, text.trim()) {
        Ok(Value::Uuid(uuid)) => Some(uuid),
        _ => None,
    };
    let found: Option<Vec<[u8; 16]>> = rows.iter().map(|row| uuid(row.first()?.as_deref()?)).collect();
    Ok(found.is_some_and(|found| found == expected()))
}

/// Every byte alone at 1 and at 255, so that the order of bytes and their sign both show, in an order of no account.
fn probes() -> Vec<[u8; 16]> {
    let one = |at: usize, byte: u8| std::array::from_fn(|i| if i == at { byte } else { 0 });
    let single = (0..16).flat_map(|at| [one(at, 1), one(at, 255)]);
    single.chain([[0; 16], [255; 16]]).collect()
}

fn expected() -> Vec<[u8; 16]> {
    let mut probes = probes();
    probes.sort_by_key(|uuid| UuidOrder::SqlServer.sorted(uuid));
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sorted(fn(&[u8; 16]) -> [u8; 16]);

    impl Ask for Sorted {
        fn ask(&mut self, sql: &str) -> Result<Vec<crate::odbc::Row>, OdbcError> {
            assert!(sql.contains("'00000000-0000-0000-0000-000000000001'") && sql.ends_with("ORDER BY v.u"));
            let mut found = probes();
            found.sort_by_key(self.0);
            // The server writes capitals.
            let text = |uuid: [u8; 16]| render_value(&LogicalType::Uuid, &Value::Uuid(uuid)).to_uppercase();
            Ok(found.into_iter().map(|uuid| vec![Some(text(uuid))]).collect())
        }

        fn describe(&mut self, _: &str) -> Result<Vec<crate::odbc::Described>, OdbcError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn another_order_is_noticed() {
        assert_eq!(is_known(&mut Sorted(|uuid| UuidOrder::SqlServer.sorted(uuid))), Ok(true));
        assert_eq!(is_known(&mut Sorted(|uuid| *uuid)), Ok(false));
        // The bytes of the groups from left to right, which differs in the first three groups only.
        let naive = |uuid: &[u8; 16]| [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3].map(|at: usize| uuid[at]);
        assert_eq!(is_known(&mut Sorted(naive)), Ok(false));
    }
}
