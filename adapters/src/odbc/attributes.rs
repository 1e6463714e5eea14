//! Connection strings: `KEY=value;KEY={a;b}}c}`.

use std::fmt::Write as _;

use secrecy::{ExposeSecret as _, SecretString};

/// Attributes of a connection, in order. The values are secret as a whole: any of them can be a password.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<(String, SecretString)>);

impl Attributes {
    /// Reads a connection string.
    ///
    /// # Errors
    /// A sentence that quotes nothing of it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut attributes = Self::default();
        let mut rest = text.trim_start_matches([';', ' ']);
        while !rest.is_empty() {
            let (key, after) = rest.split_once('=').ok_or("an attribute has no `=`")?;
            let key = key.trim();
            if key.is_empty() || key.contains([';', '{', '}']) {
                return Err("an attribute has no name");
            }
            let after = after.trim_start();
            let (value, after) = match after.strip_prefix('{') {
                Some(inner) => braced(inner).ok_or("a value in braces does not end")?,
                None => {
                    let (value, after) = after.split_once(';').map_or((after, ""), |(v, a)| (v, a));
                    (value.trim_end().to_owned(), after)
                }
            };
            attributes.set(key, value.into());
            rest = after.trim_start_matches([';', ' ']);
        }
        Ok(attributes)
    }

    /// The value of an attribute, whatever the case of its name.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value.expose_secret())
    }

    /// Sets an attribute, in place of one of that name.
    pub(super) fn set(&mut self, key: &str, value: SecretString) {
        match self.0.iter_mut().find(|(k, _)| k.eq_ignore_ascii_case(key)) {
            Some((_, present)) => *present = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Sets every attribute of another string.
    pub(super) fn extend(&mut self, more: Self) {
        for (key, value) in more.0 {
            self.set(&key, value);
        }
    }

    /// Sets an attribute unless it, or another name of it, is there.
    pub(super) fn set_default(&mut self, keys: &[&str], value: &str) {
        if keys.iter().all(|key| self.get(key).is_none())
            && let Some(key) = keys.first()
        {
            self.set(key, value.to_owned().into());
        }
    }

    /// The string that a driver is given, as the standard has it.
    pub(super) fn string(&self) -> SecretString {
        self.written(|value| value.replace('}', "}}"))
    }

    /// The string that FreeTDS is given, for which braces end with `};` and nowhere else.
    ///
    /// # Errors
    /// The attribute whose value cannot be written so.
    pub(super) fn string_of_free_tds(&self) -> Result<SecretString, &str> {
        match self.0.iter().find(|(_, value)| value.expose_secret().contains("};")) {
            Some((key, _)) => Err(key),
            None => Ok(self.written(str::to_owned)),
        }
    }

    fn written(&self, escape: impl Fn(&str) -> String) -> SecretString {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let value = value.expose_secret();
            let _ = match is_special(value) {
                true => write!(text, "{key}={{{}}};", escape(value)),
                false => write!(text, "{key}={value};"),
            };
        }
        text.into()
    }
}

/// What stands before the closing brace, of which two stand for one, and what follows.
fn braced(inner: &str) -> Option<(String, &str)> {
    let (mut value, mut rest) = (String::new(), inner);
    loop {
        let (before, after) = rest.split_once('}')?;
        value.push_str(before);
        match after.strip_prefix('}') {
            Some(further) => {
                value.push('}');
                rest = further;
            }
            None => return Some((value, after)),
        }
    }
}

/// Whether a value has to stand in braces. A path of a driver's library does not: for some they are part of the name.
fn is_special(value: &str) -> bool {
    let special = |c: char| matches!(c, '[' | ']' | '{' | '}' | '(' | ')' | ',' | ';' | '?' | '*' | '=' | '!' | '@');
    value.chars().any(special) || value.starts_with(' ') || value.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
    fn values_survive_the_way_there_and_back() {
        for value in ["plain", "p;w}d1! é", "{x}", "", " lead", "a=b", "}}", "tcp:h,1"] {
            let mut attributes = Attributes::default();
            attributes.set("PWD", value.to_owned().into());
            attributes.set("UID", "u".to_owned().into());
            let string = attributes.string();
            let back = Attributes::parse(string.expose_secret()).unwrap();
            assert_eq!((back.get("pwd"), back.get("uid")), (Some(value), Some("u")), "{}", string.expose_secret());
        }
    }

    #[test]
    #[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
    fn free_tds_ends_braces_only_before_a_semicolon() {
        let string = |value: &str| {
            let mut attributes = Attributes::default();
            attributes.set("PWD", value.to_owned().into());
            attributes.string_of_free_tds().map(|s| s.expose_secret().to_owned()).map_err(str::to_owned)
        };
        assert_eq!(string("p;w}d1!").unwrap(), "PWD={p;w}d1!};");
        assert_eq!(string("a};b").unwrap_err(), "PWD");
    }

    #[test]
    fn broken_strings_are_refused_without_quoting_them() {
        for text in ["secret", "=secret", "PWD={secret", "A;PWD=secret"] {
            assert!(Attributes::parse(text).is_err_and(|e| !e.contains("secret")), "{text}");
        }
    }
}
