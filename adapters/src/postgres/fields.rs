//! What the rows of a statement are made of.

use super::error::PgError;
use super::session::{Said, Session, State, strange};

/// The most bytes of a description: 1664 columns with names of 63 bytes are far below.
const DESCRIPTION: u32 = 1 << 20;

/// A column of a statement's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, as the server chose it where the statement does not.
    pub name: String,
    /// Its type.
    pub oid: u32,
    /// The type's modifier, -1 for none.
    pub typmod: i32,
}

impl Session {
    /// Runs a statement and describes its rows, which are not kept. `LIMIT 0` makes it a statement that reads none.
    ///
    /// # Errors
    /// What the server reports; `Protocol` if the statement has no rows.
    pub fn describe(&mut self, sql: &str) -> Result<Vec<Field>, PgError> {
        self.send(sql)?;
        let mut fields = None;
        loop {
            let header = match self.said()? {
                Said::Error(error) => return Err(error),
                Said::Message(header) => header,
            };
            match header.tag {
                b'T' => {
                    let body = self.wire.body(header, DESCRIPTION)?;
                    fields = Some(parse(&body).ok_or_else(|| self.end(strange()))?);
                }
                b'Z' => {
                    self.wire.skip(header.length as usize)?;
                    self.state = State::Ready;
                    return fields.ok_or_else(|| PgError::protocol("the statement has no rows"));
                }
                b'D' | b'C' | b'I' => self.wire.skip(header.length as usize)?,
                _ => return Err(self.end(PgError::protocol("the statement is not one that has rows"))),
            }
        }
    }
}

/// The fields of a `RowDescription`; `None` if they are not whole.
fn parse(body: &[u8]) -> Option<Vec<Field>> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let mut fields = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let end = rest.iter().position(|b| *b == 0)?;
        let (name, after) = rest.split_at_checked(end + 1)?;
        // Table, its column, type, size, modifier, format.
        let (numbers, after) = after.split_first_chunk::<18>()?;
        let [_, _, _, _, _, _, a, b, c, d, _, _, e, f, g, h, _, _] = *numbers;
        fields.push(Field {
            name: String::from_utf8_lossy(name.get(..end)?).into_owned(),
            oid: u32::from_be_bytes([a, b, c, d]),
            typmod: i32::from_be_bytes([e, f, g, h]),
        });
        rest = after;
    }
    rest.is_empty().then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::{Field, parse};

    #[test]
    fn descriptions_are_read_whole_or_not_at_all() {
        let mut body = vec![0, 2];
        for (name, oid, typmod) in [("a", 1700_u32, 327_686_i32), ("", 25, -1)] {
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(&[0, 0, 0, 0, 1, 0, 1]);
            body.extend_from_slice(&oid.to_be_bytes());
            body.extend_from_slice(&[0xff, 0xff]);
            body.extend_from_slice(&typmod.to_be_bytes());
            body.extend_from_slice(&[0, 0]);
        }
        let field = |name: &str, oid, typmod| Field { name: name.into(), oid, typmod };
        assert_eq!(parse(&body), Some(vec![field("a", 1700, 327_686), field("", 25, -1)]));
        for end in 0..body.len() {
            assert_eq!(parse(&body[..end]), None, "{end}");
        }
        body.push(0);
        assert_eq!(parse(&body), None);
    }
}
