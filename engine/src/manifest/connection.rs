//! How a source, sink or store is reached. Credentials are never here: they come by reference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;

text_enum! {
    /// Where the settings and credentials of a `connection_id` come from.
    #[derive(Default)]
    pub ConnectionType {
        /// Environment variables `DPONE_CONN_<ID>_HOST`, `_PORT`, `_DATABASE`, `_USERNAME`, `_PASSWORD`, … or `_URL`.
        #[default]
        Env = "env",
        /// A Vault path of that name.
        Vault = "vault",
        /// An Airflow connection of that name.
        Airflow = "airflow",
    }
}

/// Connection settings written in the manifest. Credentials are refused here; use `connection_id` for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionSettings {
    /// Host name or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub host: Option<String>,
    /// TCP port, 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<u16>,
    /// Database to connect to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub database: Option<String>,
    /// User name; the password comes from the connection's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub username: Option<String>,
    /// ODBC driver name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub driver: Option<String>,
    /// TLS mode in the driver's own words, such as `verify-full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub ssl_mode: Option<String>,
    /// Region of an object store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub region: Option<String>,
    /// Endpoint of a store or server that is not at its default address, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("format" = "dpone-location"))]
    pub endpoint_url: Option<String>,
}

/// How one side of a run is reached.
///
/// Invariant: holds no credential. Locations with user information or a credential in their query were refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Connection {
    /// A file, as written; relative paths are resolved by the caller.
    Path(String),
    /// A dataset address such as `file:///data/x` or `s3://bucket/x`.
    Uri(String),
    /// Settings and credentials found under a name.
    Reference {
        /// The name, `[A-Za-z0-9_]{1,64}`.
        connection_id: String,
        /// Where that name is looked up.
        connection_type: ConnectionType,
    },
    /// Settings written in the manifest.
    Settings(ConnectionSettings),
}

/// A table or view, by its name parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableRef {
    /// Database (SQL Server, ClickHouse).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub database: Option<String>,
    /// Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub schema: Option<String>,
    /// Table or view name, exactly as the server spells it; never quoted.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
}
