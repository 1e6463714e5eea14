//! A query of the manifest, as far as it has to be understood before the server sees it.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

/// A query in two parts: what must stand before a statement that reads it (its `WITH`, or nothing), and the SELECT itself,
/// which can stand in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Query<'q> {
    pub(super) prefix: &'q str,
    pub(super) body: &'q str,
}

/// A word, a parenthesised group, a comma or anything else outside of comments, at the outermost level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'q> {
    Word(&'q str),
    Name,
    Group,
    Comma,
    Other,
}

/// Takes the query apart.
///
/// The server would run everything that a text holds, and needs no semicolon between statements. In parentheses a second
/// statement, `INTO` and everything but a SELECT is an error; so what is checked here is that nothing ends the parentheses,
/// and that what precedes them is a list of common table expressions and nothing else.
///
/// # Errors
/// `source_query_invalid`.
pub(super) fn split(sql: &str) -> Result<Query<'_>, Refusal> {
    let refuse = |text: &str| {
        Refusal::new(Code::SourceQueryInvalid, text.to_owned())
            .at("source.query")
            .fix("State one SELECT, without parameters.")
    };
    let bytes = sql.as_bytes();
    let (mut at, mut depth, mut end) = (0, 0_u32, None);
    let mut parts: Vec<(usize, Part<'_>)> = Vec::new();
    while let Some(byte) = bytes.get(at) {
        let next = skip(bytes, at).ok_or_else(|| refuse("the query has a literal, name or comment without an end"))?;
        let filler = byte.is_ascii_whitespace() || is_comment(bytes, at);
        if !filler && end.is_some() && *byte != b';' {
            return Err(refuse("the query is more than one statement"));
        }
        // Before a WITH a semicolon is the custom.
        if *byte == b';' && parts.is_empty() {
            at = next;
            continue;
        }
        if !filler && depth == 0 {
            parts.push((at, part(sql, at, next)));
        }
        match byte {
            _ if filler || next > at + 1 => {}
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1).ok_or_else(|| refuse("the query has a parenthesis too many"))?,
            b';' if depth == 0 => end = end.or(Some(at)),
            b';' => return Err(refuse("the query is more than one statement")),
            _ => {}
        }
        at = next;
    }
    if depth > 0 {
        return Err(refuse("the query has a parenthesis without an end"));
    }
    let end = end.unwrap_or(sql.len());
    let Some((first, part)) = parts.first().copied() else { return Err(refuse("the query is not a SELECT")) };
    let body_at = match part {
        Part::Group => first,
        Part::Word(word) if word.eq_ignore_ascii_case("select") => first,
        Part::Word(word) if word.eq_ignore_ascii_case("with") => body_of(&parts)
            .ok_or_else(|| refuse("the query's WITH is not followed by table expressions and one SELECT"))?,
        _ => return Err(refuse("the query is not a SELECT")),
    };
    let (prefix, body) = (sql.get(first..body_at).unwrap_or_default(), sql.get(body_at..end).unwrap_or_default());
    Ok(Query { prefix, body })
}

/// Where the SELECT begins after `WITH name [(columns)] AS (…), …`.
fn body_of(parts: &[(usize, Part<'_>)]) -> Option<usize> {
    let mut rest = parts.get(1..)?;
    let is = |part: Option<&(usize, Part<'_>)>, word: &str| matches!(part, Some((_, Part::Word(found))) if found.eq_ignore_ascii_case(word));
    let group = |rest: &[(usize, Part<'_>)]| matches!(rest.first(), Some((_, Part::Group)));
    loop {
        let [(_, Part::Word(_) | Part::Name), after @ ..] = rest else { return None };
        rest = if group(after) { after.get(1..)? } else { after };
        if !is(rest.first(), "as") || !group(rest.get(1..)?) {
            return None;
        }
        rest = rest.get(2..)?;
        match rest.first()? {
            (_, Part::Comma) => rest = rest.get(1..)?,
            (at, Part::Group) => return Some(*at),
            (at, Part::Word(word)) if word.eq_ignore_ascii_case("select") => return Some(*at),
            _ => return None,
        }
    }
}

fn part(sql: &str, at: usize, next: usize) -> Part<'_> {
    let text = sql.get(at..next).unwrap_or_default();
    match text.as_bytes().first() {
        Some(b'(') => Part::Group,
        Some(b',') => Part::Comma,
        Some(b'[' | b'"') => Part::Name,
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' || *b == b'#' || !b.is_ascii() => Part::Word(text),
        _ => Part::Other,
    }
}

fn is_comment(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 2), Some(b"--" | b"/*"))
}

/// Where the literal, quoted name, word or comment that begins here ends; the next byte if none begins. `None` if it has
/// no end.
fn skip(bytes: &[u8], at: usize) -> Option<usize> {
    match (*bytes.get(at)?, bytes.get(at + 1)) {
        (b'\'', _) => quoted(bytes, at + 1, b'\''),
        (b'"', _) => quoted(bytes, at + 1, b'"'),
        (b'[', _) => quoted(bytes, at + 1, b']'),
        (b'-', Some(b'-')) => Some(bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n)),
        (b'/', Some(b'*')) => comment(bytes, at),
        (b'N' | b'n', Some(b'\'')) => quoted(bytes, at + 2, b'\''),
        (b, _) if is_word(b) => Some(at + bytes[at..].iter().take_while(|b| is_word(**b)).count()),
        _ => Some(at + 1),
    }
}

/// Bytes of a name without quotes.
pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'@' | b'#' | b'$') || !b.is_ascii()
}

fn quoted(bytes: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b if b == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
            b if b == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Comments nest.
fn comment(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    loop {
        match bytes.get(at..at + 2)? {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_select_is_taken_with_what_must_precede_it() {
        for (sql, prefix, body) in [
            ("select 1", "", "select 1"),
            (" SELECT ';', [;], \";\" ; -- done", "", "SELECT ';', [;], \";\" "),
            ("select N'it''s )', [a]])] from t", "", "select N'it''s )', [a]])] from t"),
            ("select /* ; /* ) */ */ (1) -- ;", "", "select /* ; /* ) */ */ (1) -- ;"),
            ("-- first\n(select 1) union (select 2);;", "", "(select 1) union (select 2)"),
            ("with a as (select 1 x) select * from a", "with a as (select 1 x) ", "select * from a"),
            (
                "WITH [a b] (x, y) AS (select 1, 2), c AS (select 3) -- (\nSELECT * FROM [a b], c",
                "WITH [a b] (x, y) AS (select 1, 2), c AS (select 3) -- (\n",
                "SELECT * FROM [a b], c",
            ),
            (";with a as (select 1 x) select 2", "with a as (select 1 x) ", "select 2"),
            ("with a as (select 1 x) (select * from a)", "with a as (select 1 x) ", "(select * from a)"),
            ("select a$b#c, @@version from t", "", "select a$b#c, @@version from t"),
        ] {
            assert_eq!(split(sql).ok(), Some(Query { prefix, body }), "{sql}");
        }
        for sql in [
            "select 1; drop table t",
            "select 1) as x; drop table t; --",
            "select (1; drop table t)",
            "select (1",
            "select 'a",
            "select [a",
            "select \"a",
            "select /* a",
            "delete from t",
            "with a as (select 1 x) delete from a",
            "with a as (select 1 x) insert into t select * from a",
            "with a as (select 1 x) update t set x = 1 select 1",
            "with a as (select 1 x), select 1",
            "with xmlnamespaces ('uri' as ns) select 1",
            "exec p",
            "declare @x int select 1",
            "selection",
            "",
            ";",
            "-- nothing",
        ] {
            assert!(split(sql).is_err(), "{sql}");
        }
    }
}
