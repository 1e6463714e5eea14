//! The server's messages without what they quote: a quoted text may be a value.

/// Bytes kept of a message's beginning and, if it is longer, of its end.
const BEGINNING: usize = 2048;
const END: usize = 512;

/// SQLSTATEs whose messages quote nothing but names: of tables, columns, schemas, databases, types and functions.
const NAMES_ONLY: &[&str] = &["42P01", "42703", "42704", "3F000", "3D000"];

/// A primary message without values.
pub(super) fn public_message(sqlstate: &str, message: &str) -> String {
    // What a function raises can be any text at all.
    if sqlstate.starts_with("P0") {
        return "raised by a function".into();
    }
    let text = if NAMES_ONLY.contains(&sqlstate) { message.to_owned() } else { without_quotes(message) };
    // Data exceptions also put the value, or its bytes, after a colon.
    let text = match text.split_once(": ") {
        Some((before, _)) if sqlstate.starts_with("22") || sqlstate.starts_with("23") => before.to_owned(),
        _ => text,
    };
    bounded(&text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

/// Replaces whatever stands in quotation marks of any language that the server speaks.
fn without_quotes(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| closing(*c).is_some()) {
        let (before, quoted) = rest.split_at(at);
        let inner = &quoted[open.len_utf8()..];
        // An apostrophe inside a word quotes nothing; a quotation that does not end hides everything after it.
        if open == '\'' && before.ends_with(char::is_alphanumeric) {
            shown.push_str(before);
            shown.push(open);
            rest = inner;
            continue;
        }
        shown.push_str(before);
        shown.push_str("\"…\"");
        // The last mark of that kind: the quoted text may itself have some.
        rest = closing(open)
            .and_then(|close| inner.rfind(close).map(|end| (close, end)))
            .map_or("", |(close, end)| &inner[end + close.len_utf8()..]);
    }
    shown + rest
}

fn closing(open: char) -> Option<char> {
    Some(match open {
        '"' => '"',
        '\'' => '\'',
        '`' => '\'',
        '«' => '»',
        '„' => '“',
        '“' => '”',
        '‘' => '’',
        '»' => '«',
        '「' => '」',
        '『' => '』',
        _ => return None,
    })
}

fn bounded(text: &str) -> String {
    if text.len() <= BEGINNING + END {
        return text.to_owned();
    }
    let beginning = text.floor_char_boundary(BEGINNING);
    let end = text.ceil_char_boundary(text.len() - END);
    format!("{} … {}", &text[..beginning], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::public_message;

    #[test]
    fn values_are_left_out_and_names_stay() {
        let check = |state, message, shown: &str| assert_eq!(public_message(state, message), shown);
        check("22P02", "invalid input syntax for type integer: \"hunter2\"", "invalid input syntax for type integer");
        check("22021", "invalid byte sequence for encoding \"UTF8\": 0xff", "invalid byte sequence for encoding \"…\"");
        check("22003", "value \"9\" is out of range for type integer", "value \"…\" is out of range for type integer");
        check("42601", "syntax error at or near \"x\"y\" or 'z", "syntax error at or near \"…\" or \"…\"");
        check("XX000", "can't do « a » or “b”", "can't do \"…\" or \"…\"");
        check("XX000", "an open \"quote hides", "an open \"…\"");
        check("P0001", "balance of hunter2 is 5", "raised by a function");
        check("42P01", "relation \"a.b\" does not exist", "relation \"a.b\" does not exist");
        check("57P01", "terminating\nconnection", "terminating connection");
    }

    #[test]
    fn long_messages_keep_their_ends() {
        let text = public_message("XX000", &format!("a{}z", "é".repeat(3000)));
        assert!(text.len() <= 2048 + 512 + 8 && text.starts_with('a') && text.ends_with('z'));
    }
}
