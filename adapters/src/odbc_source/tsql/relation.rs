//! What follows `FROM`, and back.

use super::quote::ident;

const AS_OF: &str = "] FOR SYSTEM_TIME AS OF '";

/// A table as of a moment, which is written as [`as_of`](super::temporal::as_of) gives it.
pub(super) fn at(qualified: &str, moment: &str) -> String {
    format!("{qualified} FOR SYSTEM_TIME AS OF '{moment}' AS t")
}

/// The qualified name of the table that is read.
pub(super) fn name_of(from: &str) -> &str {
    let named = from.strip_suffix(" AS t").unwrap_or(from);
    // Neither a moment nor what stands around it has a bracket.
    match named.rfind(AS_OF) {
        Some(at) if named.ends_with('\'') => &named[..=at],
        _ => named,
    }
}

/// The database of a qualified name, if it has three parts.
pub(super) fn database_of(name: &str) -> Option<String> {
    let (mut parts, mut rest) = (Vec::new(), name);
    while let Some(inner) = rest.strip_prefix('[') {
        let (mut part, mut left) = (String::new(), inner);
        loop {
            let (text, after) = left.split_once(']')?;
            part.push_str(text);
            match after.strip_prefix(']') {
                Some(after) => {
                    part.push(']');
                    left = after;
                }
                None => {
                    rest = after.strip_prefix('.').unwrap_or(after);
                    break;
                }
            }
        }
        parts.push(part);
    }
    let mut parts = parts.into_iter();
    (parts.len() == 3).then(|| parts.next())?
}

/// A name in up to three parts, quoted.
pub(super) fn qualified(database: Option<&str>, schema: Option<&str>, name: &str) -> String {
    match (database, schema) {
        (None, None) => ident(name),
        (None, Some(schema)) => format!("{}.{}", ident(schema), ident(name)),
        // Without a schema between the points it is the user's own.
        (Some(database), schema) => {
            format!("{}.{}.{}", ident(database), schema.map(ident).unwrap_or_default(), ident(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        let strange = qualified(None, Some("dbo"), "x] FOR SYSTEM_TIME AS OF 'y' AS t");
        for name in ["[dbo].[t]", "[a b]].c].[dbo].[x AS t]", &strange] {
            assert_eq!(name_of(&format!("{name} AS t")), name);
            assert_eq!(name_of(&at(name, "2026-01-31T12:00:00.0000000")), name);
        }
        assert_eq!(database_of("[a b]].c].[dbo].[t]").as_deref(), Some("a b].c"));
        assert_eq!(database_of("[dbo].[t.u.v]"), None);
        assert_eq!(qualified(Some("d"), None, "t"), "[d]..[t]");
        assert_eq!(qualified(None, Some("s"), "t"), "[s].[t]");
    }
}
