//! How a server is reached through a driver.

use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::manifest::ConnectionSettings;
use dpone_engine::refusal::Refusal;
use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret as _, SecretString};

use super::attributes::Attributes;
use super::driver::{self, Driver};
use super::profile::Family;

/// Drivers for SQL Server by the names they register under, best first.
const SQL_SERVER: &[&str] =
    &["ODBC Driver 18 for SQL Server", "ODBC Driver 17 for SQL Server", "FreeTDS", "ODBC Driver 13 for SQL Server"];

/// A connection's settings, with its driver found.
#[derive(Clone, Debug)]
pub struct Config {
    /// The driver; `None` if a data source name says which.
    pub driver: Option<Driver>,
    /// Which family of drivers it is of.
    pub family: Family,
    /// What the driver is given.
    attributes: Attributes,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a driver may be silent in a call.
    pub read_timeout: Duration,
    /// Where the server is, for people and for the identity of a table: never with a credential.
    pub address: String,
}

/// What sets one session of a connection apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Session<'a> {
    /// Another database of the server than the connection's own.
    pub database: Option<&'a str>,
    /// What it calls itself.
    pub application: &'a str,
    /// Rows that a driver which holds a number of them may hold.
    pub rows: Option<u64>,
}

/// The parts of a connection as they are found, none of them needed yet.
#[derive(Default)]
struct Parts {
    odbc: Option<SecretString>,
    driver: Option<String>,
    host: Option<String>,
    port: Option<String>,
    database: Option<String>,
    username: Option<String>,
    password: Option<SecretString>,
    options: Option<SecretString>,
    connect_timeout: Option<String>,
    read_timeout: Option<String>,
}

impl Config {
    /// The connection of that id: variables `DPONE_CONN_<ID>_…`. `sql_server` says whether a driver is chosen where none
    /// is named.
    ///
    /// # Errors
    /// `connection_settings_invalid`, `option_conflict`, `odbc_driver_not_found`, each with the variable.
    pub fn from_env(id: &str, sql_server: bool, get: impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let prefix = format!("DPONE_CONN_{}_", id.to_ascii_uppercase());
        // An empty variable is how a shell's template says that there is none.
        let get = |name: &str| get(&format!("{prefix}{name}")).filter(|text| !text.is_empty());
        let mut parts = Parts {
            odbc: get("ODBC").map(Into::into),
            driver: get("DRIVER"),
            host: get("HOST"),
            port: get("PORT"),
            database: get("DATABASE"),
            username: get("USERNAME"),
            password: get("PASSWORD").map(Into::into),
            options: get("OPTIONS").map(Into::into),
            connect_timeout: get("CONNECT_TIMEOUT"),
            read_timeout: get("READ_TIMEOUT"),
        };
        if let Some(url) = get("URL").map(SecretString::from) {
            parts.take_url(url.expose_secret(), &format!("{prefix}URL"))?;
        }
        parts.config(&prefix, sql_server)
    }

    /// The connection that a manifest states; the password comes from `DPONE_ODBC_PASSWORD`.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn from_manifest(
        settings: &ConnectionSettings,
        sql_server: bool,
        get: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Refusal> {
        for (name, stated) in
            [("ssl_mode", &settings.ssl_mode), ("region", &settings.region), ("endpoint_url", &settings.endpoint_url)]
        {
            if stated.is_some() {
                let place = format!("connection.{name}");
                let text = format!("an ODBC connection has no {name}");
                return Err(Refusal::new(Code::ConnectionSettingsInvalid, text)
                    .at(place)
                    .fix("Use connection_id, and say what the driver needs in its variable `_OPTIONS`."));
            }
        }
        let parts = Parts {
            driver: settings.driver.clone(),
            host: settings.host.clone(),
            port: settings.port.map(|port| port.to_string()),
            database: settings.database.clone(),
            username: settings.username.clone(),
            password: get("DPONE_ODBC_PASSWORD").map(Into::into),
            ..Parts::default()
        };
        parts.config("connection.", sql_server)
    }

    /// What a session is opened with.
    pub fn session(&self, session: &Session<'_>) -> SecretString {
        let Session { database, application, rows } = *session;
        let mut attributes = self.attributes.clone();
        if let (Family::Psql, Some(rows)) = (self.family, rows) {
            attributes.set_default(&["Fetch", "A7"], &rows.to_string());
        }
        if let Some(database) = database {
            attributes.set("DATABASE", database.to_owned().into());
        }
        if self.family.is_sql_server() {
            attributes.set_default(&["APP"], application);
        }
        match self.family {
            // What it cannot be told was refused when the settings were read.
            Family::FreeTds => attributes.string_of_free_tds().unwrap_or_default(),
            _ => attributes.string(),
        }
    }

    /// The database that is named, if one is.
    pub fn database(&self) -> Option<&str> {
        self.attributes.get("DATABASE")
    }
}

impl Parts {
    /// What an address says: `mssql://user:password@host:port/database?Attribute=value`.
    fn take_url(&mut self, url: &str, place: &str) -> Result<(), Refusal> {
        let invalid = |what: &str| {
            Refusal::new(Code::ConnectionSettingsInvalid, format!("{place}: {what}"))
                .at(place)
                .fix("Write it as mssql://USER:PASSWORD@HOST:PORT/DATABASE, each part percent-encoded.")
        };
        let rest = ["mssql://", "sqlserver://", "odbc://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        let rest = rest.ok_or_else(|| invalid("the address does not begin with mssql://"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let (host, port) = match host.strip_prefix('[') {
            Some(inner) => {
                let (host, after) = inner.split_once(']').ok_or_else(|| invalid("the host's bracket is not closed"))?;
                (host, after.strip_prefix(':').unwrap_or(""))
            }
            None => host.split_once(':').unwrap_or((host, "")),
        };
        let decode = |text: &str| {
            percent_decode_str(text)
                .decode_utf8()
                .map(std::borrow::Cow::into_owned)
                .map_err(|_| invalid("it is not UTF-8"))
        };
        for (slot, text, name) in [
            (&mut self.host, host, "HOST"),
            (&mut self.port, port, "PORT"),
            (&mut self.database, database, "DATABASE"),
            (&mut self.username, user, "USERNAME"),
        ] {
            if text.is_empty() {
                continue;
            }
            if slot.is_some() {
                return Err(twice(place, name));
            }
            *slot = Some(decode(text)?);
        }
        if !password.is_empty() {
            if self.password.is_some() {
                return Err(twice(place, "PASSWORD"));
            }
            self.password = Some(decode(password)?.into());
        }
        if !query.is_empty() {
            let mut options = Attributes::default();
            for pair in query.split('&').filter(|pair| !pair.is_empty()) {
                let (key, value) = pair.split_once('=').ok_or_else(|| invalid("a setting after `?` has no value"))?;
                options.set(&decode(key)?, decode(value)?.into());
            }
            if self.options.replace(options.string()).is_some() {
                return Err(twice(place, "OPTIONS"));
            }
        }
        Ok(())
    }

    fn config(self, prefix: &str, sql_server: bool) -> Result<Config, Refusal> {
        let place = |name: &str| match prefix.starts_with("DPONE_CONN_") {
            true => format!("{prefix}{name}"),
            false => format!("{prefix}{}", name.to_ascii_lowercase()),
        };
        let connect_timeout = seconds(self.connect_timeout.as_deref(), 30, &place("CONNECT_TIMEOUT"))?;
        let read_timeout = seconds(self.read_timeout.as_deref(), 300, &place("READ_TIMEOUT"))?;
        let invalid = |name: &str, what: &str| {
            Refusal::new(Code::ConnectionSettingsInvalid, format!("{}: {what}", place(name))).at(place(name))
        };
        let mut attributes = match &self.odbc {
            Some(text) => Attributes::parse(text.expose_secret())
                .map_err(|what| invalid("ODBC", what).fix("Write it as KEY=value;KEY={value with ; in it}."))?,
            None => Attributes::default(),
        };
        if let Some(options) = &self.options {
            let more = Attributes::parse(options.expose_secret())
                .map_err(|what| invalid("OPTIONS", what).fix("Write it as KEY=value;KEY={value with ; in it}."))?;
            attributes.extend(more);
        }
        let driver = match self.driver.as_deref().or_else(|| attributes.get("DRIVER")) {
            Some(name) => Some(driver::find(name, &place("DRIVER"))?),
            None if attributes.get("DSN").is_some() || attributes.get("FILEDSN").is_some() => None,
            None if sql_server => Some(default_driver(&place("DRIVER"))?),
            None => {
                return Err(invalid("DRIVER", "no ODBC driver is named").fix(format!(
                    "Set {} to a driver's name, or {} to a connection string.",
                    place("DRIVER"),
                    place("ODBC")
                )));
            }
        };
        let family = driver.as_ref().map_or(Family::Other, |driver| Family::of(&driver.path));
        if let Some(driver) = &driver {
            attributes.set("DRIVER", driver.path.display().to_string().into());
        }
        if let Some(port) = &self.port
            && !port.parse::<u16>().is_ok_and(|port| port != 0)
        {
            return Err(
                invalid("PORT", "the port is not a number from 1 to 65535").fix("Give a number from 1 to 65535.")
            );
        }
        if self.odbc.is_none() && self.host.is_none() && family != Family::Sqlite && attributes.get("DSN").is_none() {
            return Err(invalid("HOST", "no host is named").fix(format!("Set {}.", place("HOST"))));
        }
        let address = format!(
            "{}:{}",
            self.host
                .as_deref()
                .or_else(|| attributes.get("SERVER"))
                .or_else(|| attributes.get("DSN"))
                .unwrap_or("local"),
            self.port.as_deref().or_else(|| attributes.get("PORT")).unwrap_or("default"),
        );
        family.put_server(&mut attributes, self.host.as_deref(), self.port.as_deref());
        for (key, value) in [("DATABASE", self.database), ("UID", self.username)] {
            if let Some(value) = value {
                attributes.set(key, value.into());
            }
        }
        if let Some(password) = self.password {
            attributes.set("PWD", password);
        }
        family.put_defaults(&mut attributes);
        if family == Family::FreeTds
            && let Err(key) = attributes.string_of_free_tds()
        {
            let what = format!("FreeTDS cannot be given a value of {key} with `}};` in it");
            return Err(invalid("PASSWORD", &what).fix("Use Microsoft's driver, or another password."));
        }
        Ok(Config { driver, family, attributes, connect_timeout, read_timeout, address })
    }
}

fn default_driver(place: &str) -> Result<Driver, Refusal> {
    let mut first = None;
    for name in SQL_SERVER {
        match driver::find(name, place) {
            Ok(driver) => return Ok(driver),
            Err(refusal) => first = first.or(Some(refusal)),
        }
    }
    Err(first.unwrap_or_else(|| Refusal::new(Code::OdbcDriverNotFound, "no ODBC driver for SQL Server").at(place)))
}

fn twice(place: &str, name: &str) -> Refusal {
    let other = place.replace("_URL", &format!("_{name}"));
    Refusal::new(Code::OptionConflict, format!("{place} and {other} both say the same thing"))
        .at(other)
        .fix("Remove one of the two.")
}

fn seconds(text: Option<&str>, usual: u64, place: &str) -> Result<Duration, Refusal> {
    let Some(text) = text else { return Ok(Duration::from_secs(usual)) };
    match text.parse() {
        Ok(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds)),
        _ => {
            let what = "a number of seconds from 1 to 86400";
            Err(Refusal::new(Code::ConnectionSettingsInvalid, format!("{place} is not {what}"))
                .at(place)
                .fix(format!("Give {what}.")))
        }
    }
}
