//! The first messages of a connection: who one is, and the proof of it.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::frontend;
use secrecy::{ExposeSecret as _, SecretString};

use super::channel_binding::end_point_hash;
use super::config::{ChannelBindingMode, Config};
use super::error::{PgError, PgErrorKind};
use super::wire::Wire;

/// The most bytes of a message before the session is ready.
pub(super) const SMALL: u32 = 64 << 10;
/// The most rounds of hashing that a server may ask for: more would only keep this side busy.
const ITERATIONS: u32 = 1_000_000;

/// Introduces the session and proves the password. The server's settings follow.
pub(super) fn authenticate(wire: &mut Wire, config: &Config) -> Result<(), PgError> {
    // No others: a pooler refuses what it does not know. What else decides how values are written is set afterwards.
    let mut parameters = vec![
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("application_name", config.application_name.as_str()),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("TimeZone", "UTC"),
    ];
    if let Some(options) = &config.options {
        parameters.push(("options", options));
    }
    frontend::startup_message(parameters, wire.output()).map_err(|_| text())?;
    wire.flush()?;
    loop {
        let body = match message(wire)? {
            Message::Authentication(body) => body,
            Message::Other => return Err(PgError::protocol("the server did not ask for a proof")),
        };
        let (kind, data) = body.split_first_chunk::<4>().ok_or_else(short)?;
        match u32::from_be_bytes(*kind) {
            0 if config.channel_binding != ChannelBindingMode::Require => return Ok(()),
            0 => {
                return Err(refused(
                    "the server did not prove that it knows the password, which channel_binding requires",
                ));
            }
            3 => {
                if !wire.stream().is_encrypted() && !config.host.starts_with('/') {
                    return Err(refused(
                        "the server asks for the password in clear text over a connection without TLS",
                    ));
                }
                let password = password(config)?;
                frontend::password_message(password.expose_secret().as_bytes(), wire.output()).map_err(|_| text())?;
                wire.flush()?;
            }
            5 => {
                let salt = data.first_chunk::<4>().ok_or_else(short)?;
                let password = password(config)?.expose_secret().as_bytes();
                let proof = md5_hash(config.user.as_bytes(), password, *salt);
                frontend::password_message(proof.as_bytes(), wire.output()).map_err(|_| text())?;
                wire.flush()?;
            }
            10 => return scram(wire, config, data),
            _ => {
                return Err(refused("the server asks for a proof that is not supported: SCRAM, MD5 and passwords are"));
            }
        }
    }
}

fn scram(wire: &mut Wire, config: &Config, mechanisms: &[u8]) -> Result<(), PgError> {
    let offered = |name: &str| mechanisms.split(|b| *b == 0).any(|mechanism| mechanism == name.as_bytes());
    let binding = match config.channel_binding {
        ChannelBindingMode::Disable => None,
        ChannelBindingMode::Prefer | ChannelBindingMode::Require => {
            wire.stream().certificate().and_then(end_point_hash)
        }
    };
    let plus = offered(SCRAM_SHA_256_PLUS);
    let (mechanism, binding) = match binding {
        Some(hash) if plus => (SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)),
        _ if config.channel_binding == ChannelBindingMode::Require => {
            return Err(refused("channel binding is required and not possible with this server"));
        }
        // This side could bind and the server does not offer it: a server that did would notice the man in the middle.
        Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
        None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
    };
    if mechanism == SCRAM_SHA_256 && !offered(SCRAM_SHA_256) {
        return Err(refused("the server offers no mechanism that is supported: SCRAM-SHA-256 is"));
    }
    let mut scram = ScramSha256::new(password(config)?.expose_secret().as_bytes(), binding);
    frontend::sasl_initial_response(mechanism, scram.message(), wire.output()).map_err(|_| text())?;
    wire.flush()?;
    let challenge = sasl(wire, 11)?;
    let rounds = challenge.split(|b| *b == b',').find_map(|part| part.strip_prefix(b"i="));
    let rounds = rounds.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u32>().ok());
    if rounds.is_none_or(|rounds| rounds > ITERATIONS) {
        return Err(refused("the server's challenge is not acceptable"));
    }
    scram.update(&challenge).map_err(|_| refused("the server's challenge is not acceptable"))?;
    frontend::sasl_response(scram.message(), wire.output()).map_err(|_| text())?;
    wire.flush()?;
    let proof = sasl(wire, 12)?;
    scram.finish(&proof).map_err(|_| refused("the server did not prove that it knows the password"))?;
    match message(wire)? {
        Message::Authentication(body) if body == [0, 0, 0, 0] => Ok(()),
        _ => Err(PgError::protocol("the server did not accept its own proof")),
    }
}

/// The data of a message of SCRAM.
fn sasl(wire: &mut Wire, expected: u32) -> Result<Vec<u8>, PgError> {
    if let Message::Authentication(body) = message(wire)?
        && let Some((kind, data)) = body.split_first_chunk::<4>()
        && u32::from_be_bytes(*kind) == expected
    {
        return Ok(data.to_vec());
    }
    Err(PgError::protocol("the server did not go on with SCRAM"))
}

enum Message {
    Authentication(Vec<u8>),
    Other,
}

fn message(wire: &mut Wire) -> Result<Message, PgError> {
    loop {
        let header = wire.header()?;
        let body = wire.body(header, SMALL)?;
        match header.tag {
            b'R' => return Ok(Message::Authentication(body)),
            b'E' => return Err(PgError::of_response(&body, false).0),
            // A notice, or that the server knows only an older minor version of the protocol.
            b'N' | b'v' => {}
            _ => return Ok(Message::Other),
        }
    }
}

fn password(config: &Config) -> Result<&SecretString, PgError> {
    config.password.as_ref().ok_or_else(|| refused("the server asks for a password and none is set"))
}

fn refused(what: &str) -> PgError {
    PgError::new(PgErrorKind::Auth, what)
}

fn text() -> PgError {
    refused("a setting of the connection cannot be sent")
}

fn short() -> PgError {
    PgError::protocol("a message is too short")
}
