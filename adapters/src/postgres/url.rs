//! `postgresql://user:password@host:port/database?setting=value`.

use percent_encoding::percent_decode_str;
use secrecy::SecretString;

/// The settings an address may have after its `?`, with the name that a variable of it ends with.
const PARAMETERS: &[(&str, &str)] = &[
    ("host", "HOST"),
    ("port", "PORT"),
    ("dbname", "DATABASE"),
    ("user", "USERNAME"),
    ("sslmode", "SSLMODE"),
    ("sslrootcert", "SSLROOTCERT"),
    ("channel_binding", "CHANNEL_BINDING"),
    ("options", "OPTIONS"),
    ("application_name", "APPLICATION_NAME"),
    ("connect_timeout", "CONNECT_TIMEOUT"),
];

/// The parts of an address.
///
/// # Errors
/// What is wrong with it, without any part of it but a setting's name.
pub(super) fn parse(text: &str) -> Result<Vec<(&'static str, SecretString)>, String> {
    let scheme = ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let rest = scheme.ok_or("the address does not begin with postgresql://")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (host, port) = host_and_port(host)?;
    let mut parts: Vec<(&'static str, SecretString)> = Vec::new();
    let mut put = |name: &'static str, text: &str| -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        if parts.iter().any(|(known, _)| *known == name) {
            return Err(format!("the address says the {} twice", name.to_ascii_lowercase()));
        }
        parts.push((name, decoded(text)?.into()));
        Ok(())
    };
    put("USERNAME", user)?;
    put("PASSWORD", password)?;
    put("HOST", host)?;
    put("PORT", port)?;
    put("DATABASE", database)?;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or("a setting after `?` has no value")?;
        // A key that is not known may be anything, a misplaced password included.
        let plain = key.len() <= 32 && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let Some((_, name)) = PARAMETERS.iter().find(|(known, _)| *known == key) else {
            let shown = if plain { key } else { "…" };
            return Err(format!("the setting `{shown}` after `?` is not supported"));
        };
        put(name, value)?;
    }
    Ok(parts)
}

fn host_and_port(text: &str) -> Result<(&str, &str), String> {
    if text.contains(',') {
        return Err("the address must have one host".into());
    }
    let (host, rest) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once(']').ok_or("a `[` has no `]`")?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    match rest.strip_prefix(':') {
        Some(port) => Ok((host, port)),
        None if rest.is_empty() => Ok((host, "")),
        None => Err("the port is not understood".into()),
    }
}

fn decoded(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let broken = bytes.iter().enumerate().any(|(i, byte)| {
        *byte == b'%' && !bytes.get(i + 1..i + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    });
    let text = percent_decode_str(text).decode_utf8().ok().filter(|_| !broken);
    text.map(std::borrow::Cow::into_owned).ok_or_else(|| "a part of the address is not percent-encoded".into())
}
