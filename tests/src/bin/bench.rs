//! `cargo run --release -p dpone-tests --bin bench -- NAME --rows N [--readers R] [--repeat K] [--peers]`: prints one JSON object.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use dpone_tests::bench::{
    Failure, Request, floor_child, measure_child, odbc_floor_child, odbc_parquet, pg_parquet, pg_postgres,
    sqlite_parquet,
};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run(&arguments) {
        Ok(text) => match writeln!(std::io::stdout(), "{text}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "bench: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[OsString]) -> Result<String, Failure> {
    match arguments.first().and_then(|a| a.to_str()) {
        Some("--measure-child") => Ok(serde_json::to_string(&measure_child(&arguments[1..])?)?),
        Some("--floor-child") => Ok(floor_child(Path::new(arguments.get(1).ok_or("no file")?))?.to_string()),
        Some("--odbc-floor-child") => {
            let connection = arguments.get(1).and_then(|a| a.to_str()).ok_or("no connection")?;
            Ok(odbc_floor_child(connection)?.to_string())
        }
        Some(name @ ("sqlite-parquet" | "pg-parquet" | "pg-postgres" | "odbc-parquet")) => {
            let request = request(&arguments[1..])?;
            let bench = match name {
                "pg-parquet" => pg_parquet,
                "pg-postgres" => pg_postgres,
                "odbc-parquet" => odbc_parquet,
                _ => sqlite_parquet,
            };
            Ok(serde_json::to_string_pretty(&bench(&product()?, request)?)?)
        }
        _ => {
            let names = "sqlite-parquet | pg-parquet | pg-postgres | odbc-parquet";
            Err(format!("usage: bench {names} --rows N [--readers R] [--repeat K] [--peers]").into())
        }
    }
}

fn request(arguments: &[OsString]) -> Result<Request, Failure> {
    let mut request = Request { rows: 1_000_000, readers: 1, repeat: 3, peers: false };
    let (flags, pairs): (Vec<&OsString>, Vec<&OsString>) = arguments.iter().partition(|a| *a == "--peers");
    request.peers = !flags.is_empty();
    for pair in pairs.chunks(2) {
        let [name, value] = pair else { return Err("every option takes a number".into()) };
        let value: u64 = value.to_str().ok_or("not a number")?.parse()?;
        match name.to_str() {
            Some("--rows") => request.rows = value,
            Some("--readers") => request.readers = u32::try_from(value)?,
            Some("--repeat") => request.repeat = u32::try_from(value.max(1))?,
            _ => return Err(format!("no such option: {}", name.display()).into()),
        }
    }
    Ok(request)
}

/// Builds the product as it ships and says where it is.
fn product() -> Result<PathBuf, Failure> {
    let status = Command::new(env!("CARGO")).args(["build", "--release", "--quiet", "-p", "dpone"]).status()?;
    if !status.success() {
        return Err("the product does not build".into());
    }
    let beside = std::env::current_exe()?.with_file_name("dpone");
    if beside.exists() { Ok(beside) } else { Err(format!("{} is not there", beside.display()).into()) }
}
