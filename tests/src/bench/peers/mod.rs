//! Other tools that move the same table into a Parquet file, for `--peers`.
//!
//! They are installed once, at pinned versions, into `target/bench-peers`. One that cannot be installed or fails is reported with
//! the reason instead of a time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use super::odbc::PSQLODBC;
use super::report::median;
use super::{Failure, Measured, Request, measure};

/// What a peer is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// Of the server on 127.0.0.1.
    pub(super) port: u16,
    /// Who needs no password.
    pub(super) user: &'a str,
    /// Where the table is.
    pub(super) database: &'a str,
    /// Its name.
    pub(super) table: &'a str,
    /// Readers, for peers that can have several.
    pub(super) readers: u32,
}

/// One peer's part of a report; medians of its runs.
#[derive(Clone, Debug, Serialize)]
pub struct PeerReport {
    /// The tool.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Median seconds of the whole process; absent if it did not run.
    pub wall_s: Option<f64>,
    /// Median CPU seconds of the whole process, without the server's.
    pub cpu_s: Option<f64>,
    /// Largest resident set of any run, MiB.
    pub peak_rss_mib: Option<f64>,
    /// Whether every type of the table arrives as it is.
    pub exact: bool,
    /// What it guarantees and what not, or why it did not run.
    pub note: String,
}

struct Peer {
    name: &'static str,
    version: &'static str,
    exact: bool,
    note: &'static str,
    /// Whether it can read with several readers.
    parallel: bool,
    tool: Tool,
}

/// How it is installed and called.
enum Tool {
    /// Packages from PyPI and the script that uses them: port, user, database, table, readers, file.
    Python { packages: &'static [&'static str], script: &'static str },
    /// A crate's binary, and its arguments.
    Cargo { binary: &'static str, arguments: fn(&Job<'_>, &Path) -> Result<Vec<OsString>, Failure> },
}

const PEERS: [Peer; 6] = [
    Peer {
        name: "duckdb postgres extension",
        version: "1.5.5",
        exact: true,
        note: "one snapshot by default; not resumable; no check of what was written",
        parallel: true,
        tool: Tool::Python {
            packages: &["duckdb==1.5.5", "duckdb-extensions==1.5.5", "duckdb-extension-postgres-scanner==1.5.5"],
            script: include_str!("duckdb.py"),
        },
    },
    Peer {
        name: "connectorx",
        version: "0.4.6",
        exact: false,
        note: "no common snapshot of its connections; numeric becomes a float; whole table in memory; not resumable",
        parallel: true,
        tool: Tool::Python {
            packages: &["connectorx==0.4.6", "pyarrow==26.0.1"],
            script: include_str!("connectorx.py"),
        },
    },
    Peer {
        name: "adbc-driver-postgresql",
        version: "1.13.0",
        exact: false,
        note: "one connection, so one snapshot; numeric becomes text; not resumable",
        parallel: false,
        tool: Tool::Python {
            packages: &["adbc-driver-postgresql==1.13.0", "adbc-driver-manager==1.13.0", "pyarrow==26.0.1"],
            script: include_str!("adbc.py"),
        },
    },
    Peer {
        name: "arrow-odbc",
        version: "10.6.2",
        exact: false,
        note: "psqlODBC: one connection; texts cut at a given length unless the driver is told; not resumable",
        parallel: false,
        tool: Tool::Python {
            packages: &["arrow-odbc==10.6.2", "pyarrow==26.0.1"],
            script: include_str!("arrow_odbc.py"),
        },
    },
    Peer {
        name: "odbc2parquet",
        version: "11.0.1",
        exact: false,
        note: "psqlODBC: one connection; texts cut at a given length unless the driver is told; not resumable",
        parallel: false,
        tool: Tool::Cargo { binary: "odbc2parquet", arguments: odbc2parquet },
    },
    Peer {
        name: "rivet-cli",
        version: "0.32.2",
        exact: true,
        note: "chunks by key in connections of their own, no common snapshot; resumes by chunk, duplicates after a crash",
        parallel: true,
        tool: Tool::Cargo { binary: "rivet", arguments: rivet },
    },
];

fn odbc2parquet(job: &Job<'_>, file: &Path) -> Result<Vec<OsString>, Failure> {
    let connection = odbc(job);
    let query = format!("SELECT * FROM {}", job.table);
    let mut words: Vec<OsString> = ["--quiet", "query", "--connection-string", &connection].map(OsString::from).into();
    words.extend([file.as_os_str().to_owned(), query.into()]);
    Ok(words)
}

fn odbc(job: &Job<'_>) -> String {
    let Job { port, user, database, .. } = job;
    // UseDeclareFetch streams; without it the driver reads the whole result first.
    format!(
        "Driver={PSQLODBC};Server=127.0.0.1;Port={port};Uid={user};Database={database};UseDeclareFetch=1;Fetch=10000;"
    )
}

fn rivet(job: &Job<'_>, file: &Path) -> Result<Vec<OsString>, Failure> {
    let Job { port, user, database, table, readers } = job;
    let folder = file.with_extension("rivet");
    std::fs::create_dir_all(&folder)?;
    let config = folder.join("rivet.yaml");
    let out = folder.join("out");
    std::fs::write(
        &config,
        format!(
            "source:
  type: postgres
  url: \"postgresql://{user}@127.0.0.1:{port}/{database}\"
  tls: {{mode: disable}}
exports:
  - name: {table}
    table: public.{table}
    mode: chunked
    chunk_column: id
    parallel: {readers}
    format: parquet
    destination: {{type: local, path: {}}}
",
            out.display()
        ),
    )?;
    Ok(["run", "--config"].map(OsString::from).into_iter().chain([config.into_os_string()]).collect())
}

/// The peers of a benchmark and what they took so far.
pub(super) struct Peers {
    home: PathBuf,
    runs: Vec<(&'static Peer, Result<Vec<Measured>, String>)>,
}

impl Peers {
    /// Installs those of that name, if they are asked for.
    ///
    /// # Errors
    /// If there is no place for them.
    pub(super) fn of(request: Request, which: fn(&str) -> bool) -> Result<Self, Failure> {
        let home =
            std::env::current_exe()?.parent().and_then(Path::parent).ok_or("no target folder")?.join("bench-peers");
        let mut runs = Vec::new();
        if request.peers {
            for peer in PEERS.iter().filter(|p| which(p.name) && (request.readers == 1 || p.parallel)) {
                runs.push((peer, install(peer, &home).map(|()| Vec::new()).map_err(|e| e.to_string())));
            }
        }
        Ok(Self { home, runs })
    }

    /// One run of each.
    ///
    /// # Errors
    /// If what they wrote cannot be removed.
    pub(super) fn run_all(&mut self, job: &Job<'_>, folder: &Path) -> Result<(), Failure> {
        for (at, (peer, taken)) in self.runs.iter_mut().enumerate() {
            let Ok(measured) = taken else { continue };
            let place = folder.join(format!("peer{at}"));
            std::fs::create_dir(&place)?;
            match command(peer, &self.home, job, &place.join("out.parquet")).and_then(|words| measure(&words)) {
                Ok(one) => measured.push(one),
                Err(failure) => *taken = Err(failure.to_string()),
            }
            std::fs::remove_dir_all(&place)?;
        }
        Ok(())
    }

    /// What they took.
    pub(super) fn reports(self) -> Vec<PeerReport> {
        let report = |(peer, taken): (&'static Peer, Result<Vec<Measured>, String>)| {
            let runs = taken.as_deref().unwrap_or_default();
            let of = |f: fn(&Measured) -> f64| (!runs.is_empty()).then(|| median(runs.iter().map(f)));
            let note = taken.as_ref().map_or_else(|why| format!("did not run: {why}"), |_| peer.note.to_owned());
            PeerReport {
                name: peer.name,
                version: peer.version,
                wall_s: of(|m| m.wall_s),
                cpu_s: of(|m| m.cpu_s),
                peak_rss_mib: runs.iter().map(|m| m.peak_rss_mib).reduce(f64::max),
                exact: peer.exact,
                note,
            }
        };
        self.runs.into_iter().map(report).collect()
    }
}

fn install(peer: &Peer, home: &Path) -> Result<(), Failure> {
    let must = |command: &mut Command| -> Result<(), Failure> {
        let done = command.stdout(std::process::Stdio::null()).status()?;
        if done.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
    };
    if peer.name.contains("odbc") && !Path::new(PSQLODBC).exists() {
        return Err("psqlODBC is missing: apt-get install unixodbc-dev odbc-postgresql".into());
    }
    match peer.tool {
        Tool::Python { packages, .. } => {
            let venv = home.join(peer.name.replace(' ', "-"));
            if !venv.join("installed").exists() {
                must(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
                must(Command::new(venv.join("bin/pip")).args(["install", "-q"]).args(packages))?;
                std::fs::write(venv.join("installed"), "")?;
            }
        }
        Tool::Cargo { binary, .. } => {
            if !home.join("bin").join(binary).exists() {
                let package = format!("{}@{}", peer.name, peer.version);
                must(Command::new(env!("CARGO")).args(["install", "-q", "--locked", &package, "--root"]).arg(home))?;
            }
        }
    }
    Ok(())
}

fn command(peer: &Peer, home: &Path, job: &Job<'_>, file: &Path) -> Result<Vec<OsString>, Failure> {
    match &peer.tool {
        Tool::Python { script, .. } => {
            let path = file.with_extension("py");
            std::fs::write(&path, script)?;
            let words = [job.port.to_string(), job.user.to_owned(), job.database.to_owned(), job.table.to_owned()];
            let python = home.join(peer.name.replace(' ', "-")).join("bin/python");
            let mut command = vec![python.into_os_string(), path.into_os_string()];
            command.extend(words.map(OsString::from));
            command.extend([job.readers.to_string().into(), file.as_os_str().to_owned()]);
            Ok(command)
        }
        Tool::Cargo { binary, arguments } => {
            let mut command = vec![home.join("bin").join(binary).into_os_string()];
            command.extend(arguments(job, file)?);
            Ok(command)
        }
    }
}
