//! Names and texts as SQL writes them, under `standard_conforming_strings = on`.

/// An identifier, quoted whether it needs it or not.
pub fn quote_ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text literal. A text with a zero byte has none: the server refuses the statement.
pub fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{quote_ident, quote_literal};

    #[test]
    fn quotes_are_doubled_and_backslashes_are_not() {
        assert_eq!(quote_ident(r#"a"b\"#), r#""a""b\""#);
        assert_eq!(quote_literal(r"it's \ n"), r"'it''s \ n'");
        assert_eq!(quote_literal(""), "''");
    }
}
