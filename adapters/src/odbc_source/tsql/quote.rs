//! Names and texts in T-SQL.

/// An identifier in brackets.
pub(super) fn ident(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// A text literal of `nvarchar`.
pub(super) fn text(value: &str) -> String {
    format!("N'{}'", value.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_name_or_a_text_is_doubled() {
        assert_eq!(ident("a]b"), "[a]]b]");
        assert_eq!(ident("a[b"), "[a[b]");
        assert_eq!(text("it's"), "N'it''s'");
        assert_eq!(text(""), "N''");
    }
}
