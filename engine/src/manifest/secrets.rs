//! What looks like a credential. Better to refuse a harmless key by that name than to keep one secret.

/// Words that make a key a credential when they are one of its parts.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "credential",
    "credentials",
    "apikey",
    "dsn",
];

/// Whole keys that are credentials although none of their parts is.
const KEYS: &[&str] = &[
    "access_key",
    "access_key_id",
    "account_key",
    "api_key",
    "connection_string",
    "encryption_key",
    "hexkey",
    "private_key",
    "sas",
    "sig",
    "signature",
    "x_amz_signature",
    "x_amz_credential",
];

/// Words that are recognised inside other words and misspelled.
const LONG: &[&str] = &["password", "passphrase", "credentials"];

/// What to do about a credential.
pub(super) const FIX: &str = "Remove it; set `connection_id` and give the credential as DPONE_CONN_<ID>_PASSWORD (or _URL, _SECRET_KEY, …) in the environment.";

/// The word that makes a key a credential, small misspellings included. Messages name the word and not the key: in
/// `password=x` the key is the credential.
pub(super) fn secret_word(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase().replace(['-', '.', ' '], "_");
    let whole = KEYS.iter().find(|known| key == **known);
    let part = || WORDS.iter().find(|word| key.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == **word));
    let near =
        || LONG.iter().find(|word| key.len() >= 6 && (key.contains(**word) || strsim::osa_distance(&key, word) <= 2));
    whole.or_else(part).or_else(near).copied()
}

/// Whether a text carries a credential in itself: user information with a password in an address, or a
/// `name=value` pair whose name says so.
pub(super) fn holds_secret(text: &str) -> bool {
    has_user_password(text) || has_secret_pair(text)
}

/// `scheme://user:password@host`, or `user:password@host`.
fn has_user_password(text: &str) -> bool {
    let authority = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    // A password can itself hold an unescaped `@` or `/`, so the whole text is looked at as well.
    let whole = text.split_once("://").map_or("", |(_, rest)| rest);
    [authority, whole].iter().any(|part| {
        part.rsplit_once('@')
            .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
    })
}

fn has_secret_pair(text: &str) -> bool {
    text.split(['?', '&', ';', ',', ' ']).any(|pair| {
        pair.split_once('=').is_some_and(|(name, value)| !value.trim().is_empty() && secret_word(name.trim()).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_recognised_by_name_and_by_form() {
        for key in [
            "password",
            "PASSWORD",
            "db_password",
            "pasword",
            "passwrod",
            "pwd",
            "secret",
            "client-secret",
            "secret_key",
            "access_key",
            "api_token",
            "Token",
            "private_key",
            "dsn",
            "connection_string",
            "password=hunter2",
            "passwordd",
        ] {
            assert!(secret_word(key).is_some(), "{key}");
        }
        for key in [
            "host",
            "port",
            "database",
            "username",
            "path",
            "key",
            "group_key",
            "column",
            "passenger",
            "compass",
            "type",
        ] {
            assert!(secret_word(key).is_none(), "{key}");
        }
        for text in [
            "postgres://u:p@h/db",
            "s3://AKIA:SECRET@bucket/x",
            "postgres://u:p@ss/word@h/db",
            "u:p@h",
            "https://h/x?sig=abc",
            "https://h/x?a=1&access_key=z",
            "Driver=x;Pwd=abc;",
            "PWD={p;w}}d1}",
            "x.db?hexkey=00",
        ] {
            assert!(holds_secret(text), "{text}");
        }
        for text in [
            "postgres://u@h:5432/db",
            "s3://bucket/a:b",
            "file:///data/x",
            "C:\\data\\x.db",
            "data/user@example.db",
            "file:x.db?mode=ro",
            "https://h/x?password=",
            "host.example:5432",
            "/srv/12:30@x",
        ] {
            assert!(!holds_secret(text), "{text}");
        }
    }
}
