//! How a server is reached.

use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::manifest::ConnectionSettings;
use dpone_engine::refusal::Refusal;
use secrecy::SecretString;

use super::environment::Settings;

/// What TLS has to prove, as libpq defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SslMode {
    /// Never encrypted.
    Disable,
    /// Encrypted if the server can; its certificate is not looked at.
    #[default]
    Prefer,
    /// Encrypted; the certificate is looked at only if a root certificate is given.
    Require,
    /// Encrypted, by a server whose certificate a trusted authority signed.
    VerifyCa,
    /// Encrypted, by a server whose certificate a trusted authority signed for the host's name.
    VerifyFull,
}

impl SslMode {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }
}

/// Whether a password is proven for this very TLS connection, as libpq defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelBindingMode {
    /// Never.
    Disable,
    /// Where the server offers it.
    #[default]
    Prefer,
    /// Or the connection is refused.
    Require,
}

/// The settings of a connection. `Debug` does not show the password.
#[derive(Clone, Debug)]
pub struct Config {
    /// Host name or address; a folder with the server's Unix socket if it begins with `/`.
    pub host: String,
    /// TCP port, or the number of the socket.
    pub port: u16,
    /// Database.
    pub database: String,
    /// User.
    pub user: String,
    /// Password, where one is needed.
    pub password: Option<SecretString>,
    /// What TLS has to prove.
    pub ssl_mode: SslMode,
    /// Path of the trusted root certificates in PEM, or `system`.
    pub ssl_root_cert: Option<String>,
    /// Whether the password's proof is bound to the TLS connection.
    pub channel_binding: ChannelBindingMode,
    /// What the server's own lists show.
    pub application_name: String,
    /// Command-line options for the server's session, such as `-c work_mem=64MB`.
    pub options: Option<String>,
    /// How long making a connection may take, per address.
    pub connect_timeout: Duration,
    /// How long the server may be silent before it is asked, in another session, whether it still works.
    pub read_deadline: Duration,
    /// How long a statement waits for a lock.
    pub lock_timeout: Duration,
}

impl Config {
    /// The settings under a connection's name: `DPONE_CONN_<ID>_HOST`, `_PORT`, `_DATABASE`, `_USERNAME`, `_PASSWORD`,
    /// `_SSLMODE`, `_SSLROOTCERT`, `_CHANNEL_BINDING`, `_OPTIONS`, `_APPLICATION_NAME`, `_CONNECT_TIMEOUT`,
    /// `_READ_TIMEOUT` and `_LOCK_TIMEOUT` (seconds), or `_URL` with all of them but the last two.
    ///
    /// # Errors
    /// `connection_settings_invalid`, naming the variable and never its value; `option_conflict` if `_URL` and another
    /// variable say the same thing.
    pub fn from_env(id: &str, get: impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        Settings::of_environment(id, &get)?.config()
    }

    /// The settings of a manifest's `connection`; the password is the variable `PGPASSWORD`.
    ///
    /// # Errors
    /// `connection_settings_invalid`, naming the key.
    pub fn from_manifest(settings: &ConnectionSettings, get: impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let foreign =
            [("driver", &settings.driver), ("region", &settings.region), ("endpoint_url", &settings.endpoint_url)];
        if let Some((key, _)) = foreign.iter().find(|(_, value)| value.is_some()) {
            let text = format!("a PostgreSQL connection has no `{key}`");
            return Err(Refusal::new(Code::ConnectionSettingsInvalid, text)
                .at(format!("connection.{key}"))
                .fix(format!("Remove `{key}`.")));
        }
        Settings::of_manifest(settings, &get).config()
    }

    /// A table of that database, as an operator knows it.
    pub fn table_identity(&self, schema: &str, table: &str) -> String {
        let Self { host, port, database, .. } = self;
        format!("postgres://{host}:{port}/{database}#{schema}.{table}")
    }

    /// A statement whose one cell says which table an oid is, whatever address its server was reached by: servers that
    /// started in the same microsecond, with the same oids, are one.
    pub(crate) fn same_table(oid: u32) -> String {
        format!(
            "SELECT pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::pg_catalog.numeric(20, 6) || '/' \
             || (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) || '/{oid}'"
        )
    }
}
