//! A query of the manifest, as far as it has to be understood before the server sees it.

use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

/// The query without what may follow its one statement, so that it can stand in parentheses.
///
/// The server would run everything that a text holds, so more than one statement, or a parenthesis that ends the wrapping
/// one, is refused here.
///
/// # Errors
/// `source_query_invalid`.
pub(super) fn single_select(sql: &str) -> Result<&str, Refusal> {
    let refuse = |text: &str| {
        Refusal::new(Code::SourceQueryInvalid, text.to_owned())
            .at("source.query")
            .fix("State one SELECT, without parameters.")
    };
    let bytes = sql.as_bytes();
    let (mut at, mut depth, mut end, mut first) = (0, 0_u32, None, None);
    while let Some(byte) = bytes.get(at) {
        let next = skip(bytes, at).ok_or_else(|| refuse("the query has a literal, name or comment without an end"))?;
        let filler = byte.is_ascii_whitespace() || is_comment(bytes, at);
        if !filler && end.is_some() && *byte != b';' {
            return Err(refuse("the query is more than one statement"));
        }
        match byte {
            _ if filler || next > at + 1 => {}
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1).ok_or_else(|| refuse("the query has a parenthesis too many"))?,
            b';' => end = end.or(Some(at)),
            _ => {}
        }
        if !filler {
            first.get_or_insert(at);
        }
        at = next;
    }
    if depth > 0 {
        return Err(refuse("the query has a parenthesis without an end"));
    }
    let statement = sql.get(first.unwrap_or(0)..).unwrap_or_default();
    let word: String = statement.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_lowercase();
    if !statement.starts_with('(') && !["select", "with", "values", "table"].contains(&word.as_str()) {
        return Err(refuse("the query is not a SELECT"));
    }
    Ok(sql.get(..end.unwrap_or(sql.len())).unwrap_or(sql))
}

fn is_comment(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 2), Some(b"--" | b"/*"))
}

/// Where the literal, quoted name, word or comment that begins here ends; the next byte if none begins. `None` if it has
/// no end.
fn skip(bytes: &[u8], at: usize) -> Option<usize> {
    match (*bytes.get(at)?, bytes.get(at + 1)) {
        (b'\'', _) => quoted(bytes, at + 1, b'\'', false),
        (b'"', _) => quoted(bytes, at + 1, b'"', false),
        (b'e' | b'E', Some(b'\'')) => quoted(bytes, at + 2, b'\'', true),
        (b'-', Some(b'-')) => Some(bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n)),
        (b'/', Some(b'*')) => comment(bytes, at),
        (b'$', _) => dollar(bytes, at),
        (b, _) if b.is_ascii_alphanumeric() || b == b'_' || !b.is_ascii() => {
            // A whole word, so that neither its `e` nor its `$` begins anything.
            let more = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || !b.is_ascii();
            Some(at + bytes[at..].iter().take_while(|b| more(b)).count())
        }
        _ => Some(at + 1),
    }
}

fn quoted(bytes: &[u8], mut at: usize, quote: u8, backslash: bool) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b'\\' if backslash => at += 2,
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

/// `$tag$ … $tag$`, or a single `$` if that is none.
fn dollar(bytes: &[u8], at: usize) -> Option<usize> {
    let tag = bytes[at + 1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || !b.is_ascii()).count();
    let open = bytes.get(at..at + tag + 2).filter(|open| open.last() == Some(&b'$'));
    let Some(open) = open.filter(|open| !open[1].is_ascii_digit()) else { return Some(at + 1) };
    let body = at + open.len();
    let end = bytes.get(body..)?.windows(open.len()).position(|window| window == open)?;
    Some(body + end + open.len())
}

#[cfg(test)]
mod tests {
    use super::single_select;

    #[test]
    fn one_select_is_taken_and_nothing_that_follows_it() {
        for (sql, expect) in [
            ("select 1", "select 1"),
            (" SELECT ';', \";\" ; -- done", " SELECT ';', \";\" "),
            ("select $$;)$$, $a$ $$ ; $a$", "select $$;)$$, $a$ $$ ; $a$"),
            ("select E'\\';', 'a''b'", "select E'\\';', 'a''b'"),
            ("select /* ; /* ) */ */ (1) -- ;", "select /* ; /* ) */ */ (1) -- ;"),
            ("-- first\n(select 1) union (select 2);;", "-- first\n(select 1) union (select 2)"),
            ("with a as (select 1) select * from a", "with a as (select 1) select * from a"),
            ("values (1)", "values (1)"),
            ("table t", "table t"),
            ("select a$b$c from t -- $b$", "select a$b$c from t -- $b$"),
            ("select name'x' from t", "select name'x' from t"),
        ] {
            assert_eq!(single_select(sql).ok(), Some(expect), "{sql}");
        }
        for sql in [
            "select 1; drop table t",
            "select 1) as x; drop table t; --",
            "select (1",
            "select 'a",
            "select \"a",
            "select $$a",
            "select /* a",
            "delete from t",
            "selection",
            "",
            ";",
            "-- nothing",
        ] {
            assert!(single_select(sql).is_err(), "{sql}");
        }
    }
}
