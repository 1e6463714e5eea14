//! Settings by name, from variables or a manifest, on their way into a [`Config`].

use std::collections::BTreeMap;
use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::manifest::ConnectionSettings;
use dpone_engine::refusal::Refusal;
use secrecy::{ExposeSecret as _, SecretString};

use super::config::{ChannelBindingMode, Config, SslMode};
use super::url;

/// The names that a variable may end with.
const NAMES: &[&str] = &[
    "HOST",
    "PORT",
    "DATABASE",
    "USERNAME",
    "PASSWORD",
    "SSLMODE",
    "SSLROOTCERT",
    "CHANNEL_BINDING",
    "OPTIONS",
    "APPLICATION_NAME",
    "CONNECT_TIMEOUT",
    "READ_TIMEOUT",
    "LOCK_TIMEOUT",
];

/// Settings that were found, each with the place it comes from.
pub(super) struct Settings {
    values: BTreeMap<&'static str, (SecretString, String)>,
    /// What a place that has nothing would be called.
    place: Box<dyn Fn(&str) -> String>,
}

impl Settings {
    pub(super) fn of_environment(id: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let prefix = format!("DPONE_CONN_{}_", id.to_ascii_uppercase());
        let mut values = BTreeMap::new();
        let url_variable = format!("{prefix}URL");
        // An empty variable is how a shell's template says that there is none.
        let get = |name: &str| get(name).filter(|text| !text.is_empty());
        if let Some(text) = get(&url_variable).map(SecretString::from) {
            let parts = url::parse(text.expose_secret()).map_err(|what| {
                Refusal::new(Code::ConnectionSettingsInvalid, format!("{url_variable}: {what}"))
                    .at(&url_variable)
                    .fix("Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, each part percent-encoded.")
            })?;
            for (name, value) in parts {
                values.insert(name, (value, url_variable.clone()));
            }
        }
        for name in NAMES {
            let variable = format!("{prefix}{name}");
            let Some(value) = get(&variable) else { continue };
            if let Some((_, other)) = values.insert(*name, (value.into(), variable.clone())) {
                let text = format!("{variable} and {other} both say the same thing");
                return Err(Refusal::new(Code::OptionConflict, text).at(variable).fix("Remove one of the two."));
            }
        }
        Ok(Self { values, place: Box::new(move |name| format!("{prefix}{name}")) })
    }

    pub(super) fn of_manifest(settings: &ConnectionSettings, get: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut values = BTreeMap::new();
        let mut put = |name: &'static str, value: Option<String>, place: &str| {
            if let Some(value) = value.filter(|text| !text.is_empty()) {
                values.insert(name, (value.into(), place.to_owned()));
            }
        };
        put("HOST", settings.host.clone(), "connection.host");
        put("PORT", settings.port.map(|port| port.to_string()), "connection.port");
        put("DATABASE", settings.database.clone(), "connection.database");
        put("USERNAME", settings.username.clone(), "connection.username");
        put("SSLMODE", settings.ssl_mode.clone(), "connection.ssl_mode");
        put("PASSWORD", get("PGPASSWORD"), "PGPASSWORD");
        Self { values, place: Box::new(|name| format!("connection.{}", name.to_ascii_lowercase())) }
    }

    pub(super) fn config(&self) -> Result<Config, Refusal> {
        let user = self.required("USERNAME")?;
        Ok(Config {
            host: self.required("HOST")?,
            port: self
                .parsed("PORT", "a number from 1 to 65535", |t| t.parse().ok().filter(|port| *port != 0))?
                .unwrap_or(5432),
            database: self.text("DATABASE")?.unwrap_or_else(|| user.clone()),
            user,
            password: self.values.get("PASSWORD").map(|(password, _)| password.clone()),
            ssl_mode: self
                .parsed("SSLMODE", "disable, prefer, require, verify-ca or verify-full", SslMode::parse)?
                .unwrap_or_default(),
            ssl_root_cert: self.text("SSLROOTCERT")?,
            channel_binding: self.parsed("CHANNEL_BINDING", "disable, prefer or require", binding)?.unwrap_or_default(),
            application_name: self.text("APPLICATION_NAME")?.unwrap_or_else(|| "dpone".into()),
            options: self.text("OPTIONS")?,
            connect_timeout: self.seconds("CONNECT_TIMEOUT", 30)?,
            read_deadline: self.seconds("READ_TIMEOUT", 60)?,
            lock_timeout: self.seconds("LOCK_TIMEOUT", 30)?,
        })
    }

    fn required(&self, name: &str) -> Result<String, Refusal> {
        self.text(name)?.ok_or_else(|| {
            let (place, address) = ((self.place)(name), (self.place)("URL"));
            // A manifest's `connection` has no address.
            let fix = match address.starts_with("DPONE_CONN_") {
                true => format!("Set {place}, or {address} to postgresql://USER@HOST:PORT/DATABASE."),
                false => format!("Set {place}."),
            };
            Refusal::new(Code::ConnectionSettingsInvalid, format!("{place} is not set")).at(&place).fix(fix)
        })
    }

    fn text(&self, name: &str) -> Result<Option<String>, Refusal> {
        // A zero byte would end the text within a protocol message.
        self.parsed(name, "a text without zero bytes", |text| (!text.contains('\0')).then(|| text.to_owned()))
    }

    fn seconds(&self, name: &str, usual: u64) -> Result<Duration, Refusal> {
        let seconds = self.parsed(name, "a number of seconds from 1 to 86400", |text| {
            text.parse().ok().filter(|seconds| (1..=86_400).contains(seconds))
        })?;
        Ok(Duration::from_secs(seconds.unwrap_or(usual)))
    }

    fn parsed<T>(&self, name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Refusal> {
        let Some((value, place)) = self.values.get(name) else { return Ok(None) };
        parse(value.expose_secret()).map(Some).ok_or_else(|| {
            let what = name.to_ascii_lowercase();
            Refusal::new(Code::ConnectionSettingsInvalid, format!("{place}: the {what} is not {expected}"))
                .at(place)
                .fix(format!("Give {expected}."))
        })
    }
}

fn binding(text: &str) -> Option<ChannelBindingMode> {
    Some(match text {
        "disable" => ChannelBindingMode::Disable,
        "prefer" => ChannelBindingMode::Prefer,
        "require" => ChannelBindingMode::Require,
        _ => return None,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use dpone_engine::codes::Code;
    use dpone_engine::manifest::ConnectionSettings;
    use secrecy::ExposeSecret as _;

    use super::super::config::{Config, SslMode};

    fn config(variables: &[(&str, &str)]) -> Result<Config, dpone_engine::refusal::Refusal> {
        let variables: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| (format!("DPONE_CONN_SHOP_{name}"), (*value).to_owned())).collect();
        Config::from_env("shop", |name| variables.get(name).cloned())
    }

    #[test]
    fn single_variables() {
        let c = config(&[("HOST", "h"), ("USERNAME", "u"), ("PASSWORD", "hunter2"), ("PORT", "5433")]).unwrap();
        assert_eq!((c.host.as_str(), c.port, c.database.as_str(), c.ssl_mode), ("h", 5433, "u", SslMode::Prefer));
        assert_eq!(c.password.as_ref().unwrap().expose_secret(), "hunter2");
        assert!(!format!("{c:?}").contains("hunter2"));
    }

    #[test]
    fn an_address_percent_decoded() {
        let url = "postgresql://us%40er:p%2Fw%3A@[::1]:6000/my%20db?sslmode=verify-full&application_name=a%26b";
        let c = config(&[("URL", url), ("READ_TIMEOUT", "5")]).unwrap();
        assert_eq!((c.host.as_str(), c.port, c.database.as_str()), ("::1", 6000, "my db"));
        assert_eq!((c.user.as_str(), c.application_name.as_str()), ("us@er", "a&b"));
        assert_eq!((c.ssl_mode, c.read_deadline.as_secs()), (SslMode::VerifyFull, 5));
        assert_eq!(c.password.unwrap().expose_secret(), "p/w:");
        let c = config(&[("URL", "postgres://u@%2Fvar%2Frun/db"), ("PASSWORD", "x")]).unwrap();
        assert_eq!((c.host.as_str(), c.port), ("/var/run", 5432));
        assert!(c.password.is_some());
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_and_not_shown() {
        let check = |variables: &[(&str, &str)], code: Code, names: &str| {
            let refusal = config(variables).unwrap_err();
            let shown = format!("{refusal} {:?} {:?}", refusal.place, refusal.fix);
            assert_eq!(refusal.code, code, "{shown}");
            assert!(shown.contains(names) && !shown.contains("hunter2"), "{shown}");
        };
        let invalid = Code::ConnectionSettingsInvalid;
        check(&[], invalid, "DPONE_CONN_SHOP_USERNAME");
        check(&[("USERNAME", "u"), ("HOST", "")], invalid, "DPONE_CONN_SHOP_HOST");
        check(&[("USERNAME", "u"), ("HOST", "h"), ("PORT", "hunter2")], invalid, "DPONE_CONN_SHOP_PORT");
        check(&[("USERNAME", "u"), ("HOST", "h"), ("PORT", "0")], invalid, "DPONE_CONN_SHOP_PORT");
        check(&[("USERNAME", "u"), ("HOST", "h"), ("SSLMODE", "hunter2")], invalid, "DPONE_CONN_SHOP_SSLMODE");
        check(&[("USERNAME", "u"), ("HOST", "h"), ("READ_TIMEOUT", "0")], invalid, "DPONE_CONN_SHOP_READ_TIMEOUT");
        check(&[("URL", "postgres://u:hunter2@h/d"), ("HOST", "x")], Code::OptionConflict, "DPONE_CONN_SHOP_URL");
        check(&[("URL", "postgres://u:hunter2@h/d?password=hunter2")], invalid, "DPONE_CONN_SHOP_URL");
        check(&[("URL", "postgres://u:hunter2@h:x/d")], invalid, "DPONE_CONN_SHOP_URL");
        check(&[("URL", "postgres://u:hunter2@h,i/d")], invalid, "one host");
        check(&[("URL", "postgres://u:hunter2%zz@h/d")], invalid, "DPONE_CONN_SHOP_URL");
        check(&[("URL", "hunter2")], invalid, "DPONE_CONN_SHOP_URL");
        check(&[("URL", "postgres://u:hunter2@h/d?sslkey=hunter2")], invalid, "sslkey");
    }

    #[test]
    fn a_manifest_says_everything_but_the_password() {
        let settings = ConnectionSettings {
            host: Some("h".into()),
            username: Some("u".into()),
            ssl_mode: Some("require".into()),
            ..ConnectionSettings::default()
        };
        let c = Config::from_manifest(&settings, |name| (name == "PGPASSWORD").then(|| "hunter2".into())).unwrap();
        assert_eq!((c.host.as_str(), c.ssl_mode, c.password.is_some()), ("h", SslMode::Require, true));
        let settings = ConnectionSettings { driver: Some("x".into()), ..settings };
        let refusal = Config::from_manifest(&settings, |_| None).unwrap_err();
        assert_eq!(refusal.place.as_deref(), Some("connection.driver"));
    }
}
