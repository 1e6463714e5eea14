//! Proving a password, with and without TLS.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::thread;

use dpone_adapters::postgres::{Config, PgError, PgErrorKind, Session};
use dpone_fixtures::postgres::Postgres;

use super::config;

const SECRET: &str = "hun'ter2 ü";

#[test]
fn every_kind_of_proof() {
    let server = Postgres::shared();
    let quoted = SECRET.replace('\'', "''");
    for (user, encryption) in
        [("user_scram", "scram-sha-256"), ("user_md5", "md5"), ("user_password", "md5"), ("user_tls", "scram-sha-256")]
    {
        let sql = format!("set password_encryption = '{encryption}'; create role {user} login password '{quoted}'");
        server.psql("postgres", &sql);
    }
    server
        .psql("postgres", "create role user_refused login; create role user_trust login; create role user_clear login");
    let connect = |user: &str, password: Option<&str>, host: Option<&str>, more: &[(&str, &str)]| {
        let mut config = config("postgres", more);
        config.user = user.into();
        config.password = password.map(|p| p.to_owned().into());
        if let Some(host) = host {
            config.host = host.into();
        }
        Session::connect(&config)
    };
    let socket = server.socket_folder().to_str().unwrap();
    for (user, password, host) in [
        ("user_scram", Some(SECRET), None),
        ("user_md5", Some(SECRET), None),
        ("user_trust", None, None),
        ("user_trust", Some("not asked for"), None),
        ("user_clear", None, None),
        ("user_scram", None, Some(socket)),
    ] {
        let mut session = connect(user, password, host, &[]).unwrap();
        assert_eq!(session.query("select current_user").unwrap(), [[Some(user.to_owned())]]);
        assert!(!session.is_encrypted());
    }
    let refused = |answer: Result<Session, PgError>, says: &str| {
        let error = answer.err().unwrap();
        assert_eq!(error.kind, PgErrorKind::Auth, "{error}");
        assert!(error.message.contains(says) && !error.message.contains("hunter2"), "{error}");
        assert!(!error.transient());
    };
    for user in ["user_scram", "user_md5"] {
        refused(connect(user, Some("hunter2"), None, &[]), "28P01");
        refused(connect(user, None, None, &[]), "none is set");
    }
    refused(connect("user_refused", Some("hunter2"), None, &[]), "28000");
    refused(connect("user_password", Some("hunter2"), None, &[]), "clear text");
    refused(connect("user_tls", Some("hunter2"), None, &[]), "28000");
    refused(connect("user_trust", None, None, &[("SSLMODE", "require")]), "does not offer it");
    refused(connect("user_scram", Some("hunter2"), None, &[("CHANNEL_BINDING", "require")]), "channel binding");
    refused(connect("user_trust", None, None, &[("CHANNEL_BINDING", "require")]), "channel_binding");
}

#[test]
fn nobody_there() {
    let config = Config::from_env("x", |name| match name {
        "DPONE_CONN_X_URL" => Some("postgresql://u:hunter2@127.0.0.1:1/d".to_owned()),
        _ => None,
    });
    let error = Session::connect(&config.unwrap()).err().unwrap();
    assert_eq!((error.kind.clone(), error.transient()), (PgErrorKind::Network, true), "{error}");
    let server = Postgres::shared();
    let error = Session::connect(&super::config("nowhere", &[])).err().unwrap();
    assert_eq!(error.sqlstate(), Some("3D000"), "{error} on {}", server.port());
}

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn tls_in_every_mode() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // An authority and a server certificate of it for `localhost` only; and a certificate that signs itself.
    openssl(folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca");
    openssl(folder, "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost");
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl(
        folder,
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names",
    );
    openssl(folder, "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -days 2 -subj /CN=other");
    let server = Postgres::start(&[]);
    let data = server.data_folder();
    let install = |name: &str| {
        for end in ["crt", "key"] {
            fs::copy(folder.join(format!("{name}.{end}")), data.join(format!("server.{end}"))).unwrap();
        }
        let owner = Command::new("chown").arg("--reference").arg(&data).arg(data.join("server.key")).output().unwrap();
        assert!(owner.status.success());
        let mode = Command::new("chmod").arg("600").arg(data.join("server.key")).status().unwrap();
        assert!(mode.success());
        server.psql("postgres", "alter system set ssl = on");
        server.psql("postgres", "select pg_reload_conf()");
        let path = data.join("server.crt");
        let expected = fs::read_to_string(path).unwrap();
        assert_eq!(expected, fs::read_to_string(folder.join(format!("{name}.crt"))).unwrap());
    };
    server.psql("postgres", "create role user_tls login password 'x'");
    let connect = |host: &str, mode: &str, root: Option<&str>, binding: &str| {
        let root = root.map(|name| folder.join(name).display().to_string());
        let port = server.port().to_string();
        let get = |name: &str| {
            Some(match name.strip_prefix("DPONE_CONN_T_")? {
                "HOST" => host.to_owned(),
                "PORT" => port.clone(),
                "DATABASE" => "postgres".to_owned(),
                "USERNAME" => "user_tls".to_owned(),
                "PASSWORD" => "x".to_owned(),
                "SSLMODE" => mode.to_owned(),
                "CHANNEL_BINDING" => binding.to_owned(),
                "SSLROOTCERT" => return root.clone(),
                _ => return None,
            })
        };
        Session::connect(&Config::from_env("t", get).unwrap())
    };
    install("server");
    // The server takes its new certificate in when it gets to it.
    let began = std::time::Instant::now();
    while connect("127.0.0.1", "prefer", None, "prefer").is_err() {
        assert!(began.elapsed().as_secs() < 30, "the server has no TLS");
        std::thread::yield_now();
    }
    let accepted = |host, mode, root, binding| {
        let mut session = connect(host, mode, root, binding).unwrap();
        assert!(session.is_encrypted());
        let text = session.query("select repeat('x', 1000000)").unwrap();
        assert_eq!(text.first().and_then(|row| row.first().cloned().flatten()).map(|t| t.len()), Some(1_000_000));
        let canceller = session.canceller();
        std::thread::scope(|scope| {
            let stop = scope.spawn(|| {
                // Cancels until something is there to be cancelled.
                while !canceller_hits(&canceller, &server) {}
            });
            let error = session.query("select pg_sleep(600) /* to be cancelled */").unwrap_err();
            assert_eq!(error.kind, PgErrorKind::Cancelled, "{error}");
            stop.join().unwrap();
        });
    };
    accepted("127.0.0.1", "prefer", None, "prefer");
    accepted("127.0.0.1", "require", None, "require");
    accepted("127.0.0.1", "require", Some("ca.crt"), "disable");
    accepted("127.0.0.1", "verify-ca", Some("ca.crt"), "require");
    accepted("localhost", "verify-full", Some("ca.crt"), "require");
    let refused = |host, mode, root| {
        let error = connect(host, mode, root, "prefer").err().unwrap();
        assert!(error.kind == PgErrorKind::Auth && !error.transient(), "{error}");
        assert!(error.message.starts_with("TLS"), "{error}");
    };
    refused("127.0.0.1", "verify-full", Some("ca.crt"));
    refused("127.0.0.1", "verify-ca", Some("other.crt"));
    refused("127.0.0.1", "require", Some("other.crt"));
    refused("localhost", "verify-full", None);
    refused("localhost", "verify-full", Some("missing.crt"));
    refused("localhost", "verify-full", Some("server.key"));
    assert_eq!(connect("127.0.0.1", "disable", None, "disable").err().unwrap().kind, PgErrorKind::Auth);
}

fn canceller_hits(canceller: &dpone_adapters::postgres::Canceller, server: &Postgres) -> bool {
    let sql = "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep(600) /* to be%' \
               and pid <> pg_backend_pid()";
    if server.psql("postgres", sql) != "1" {
        return false;
    }
    canceller.cancel().unwrap();
    true
}

/// A pooler refuses a session that begins with settings which it does not know.
#[test]
fn a_session_begins_with_what_poolers_know() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = config("postgres", &[("SSLMODE", "disable")]);
    config.port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut length = [0; 4];
        client.read_exact(&mut length).unwrap();
        let mut message = vec![0; u32::from_be_bytes(length) as usize - 4];
        client.read_exact(&mut message).unwrap();
        message
    });
    assert!(Session::connect(&config).is_err());
    let message = server.join().unwrap();
    let texts: Vec<&str> = message[4..].split(|b| *b == 0).map(|text| std::str::from_utf8(text).unwrap()).collect();
    let names: Vec<&str> = texts.iter().step_by(2).copied().filter(|name| !name.is_empty()).collect();
    assert_eq!(names, ["user", "database", "application_name", "client_encoding", "DateStyle", "TimeZone"]);
}
