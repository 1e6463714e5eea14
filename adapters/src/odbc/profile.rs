//! What is known of drivers: how each is reached, and what each gets wrong.

use std::path::Path;

use super::attributes::Attributes;

/// A family of drivers that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Microsoft's drivers for SQL Server.
    Microsoft,
    /// FreeTDS.
    FreeTds,
    /// psqlODBC.
    Psql,
    /// MariaDB Connector/ODBC and MySQL's.
    MariaDb,
    /// sqliteodbc.
    Sqlite,
    /// Any other: nothing is taken for granted.
    Other,
}

/// What a driver holds beside the buffers that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// A packet: rows come as they are fetched, and long values in pieces.
    Streams,
    /// A whole row at a time, long values included.
    Row,
    /// A bounded number of rows at a time, as each session says.
    Rows,
    /// The whole result, as far as is known.
    Result,
}

impl Family {
    /// The family of a driver's library.
    pub fn of(library: &Path) -> Self {
        let name = library.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if has(&["msodbcsql"]) {
            Self::Microsoft
        } else if has(&["tdsodbc"]) {
            Self::FreeTds
        } else if has(&["psqlodbc"]) {
            Self::Psql
        } else if has(&["maodbc", "myodbc"]) {
            Self::MariaDb
        } else if has(&["sqlite3odbc", "sqliteodbc"]) {
            Self::Sqlite
        } else {
            Self::Other
        }
    }

    /// Whether it speaks to SQL Server.
    pub const fn is_sql_server(self) -> bool {
        matches!(self, Self::Microsoft | Self::FreeTds)
    }

    /// What it holds beside the buffers that it is given, with the attributes of [`Family::put_defaults`].
    pub const fn buffering(self) -> Buffering {
        match self {
            Self::Microsoft => Buffering::Streams,
            Self::FreeTds | Self::Sqlite => Buffering::Row,
            Self::Psql | Self::MariaDb => Buffering::Rows,
            Self::Other => Buffering::Result,
        }
    }

    /// Names the server as the driver wants it.
    pub(super) fn put_server(self, attributes: &mut Attributes, host: Option<&str>, port: Option<&str>) {
        let Some(host) = host else { return };
        match (self, port) {
            (Self::Microsoft, Some(port)) => attributes.set("SERVER", format!("tcp:{host},{port}").into()),
            (Self::Microsoft, None) => attributes.set("SERVER", host.to_owned().into()),
            (_, port) => {
                attributes.set("SERVER", host.to_owned().into());
                if let Some(port) = port {
                    attributes.set("PORT", port.to_owned().into());
                }
            }
        }
    }

    /// What makes the driver stream and keep values as they are. Nothing that is stated is overruled.
    pub(super) fn put_defaults(self, attributes: &mut Attributes) {
        let defaults: &[(&[&str], &str)] = match self {
            Self::Microsoft => &[(&["ApplicationIntent"], "ReadWrite"), (&["ConnectRetryCount"], "0")],
            Self::FreeTds => &[(&["TDS_Version"], "7.4"), (&["ClientCharset"], "UTF-8"), (&["PORT"], "1433")],
            // Without declared cursors the whole result stands in memory before the first row.
            Self::Psql => &[
                (&["UseDeclareFetch", "B6"], "1"),
                (&["BoolsAsChar", "B9"], "0"),
                (&["TextAsLongVarchar", "B8"], "0"),
                (&["UnknownsAsLongVarchar", "B7"], "0"),
                (&["MaxVarcharSize", "B0"], "8190"),
            ],
            Self::MariaDb => &[(&["NO_CACHE"], "1"), (&["FORWARDONLY"], "1"), (&["CHARSET"], "utf8mb4")],
            Self::Sqlite => &[(&["NoTXN"], "1"), (&["StepAPI"], "1"), (&["BigInt"], "1"), (&["FKSupport"], "0")],
            Self::Other => &[],
        };
        for (keys, value) in defaults {
            attributes.set_default(keys, value);
        }
    }
}
