//! One process, measured from outside: wall time, CPU time and peak memory as the operating system counted them.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

use super::Failure;

/// What one process took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds from start to exit.
    pub wall_s: f64,
    /// User and system seconds of all its threads.
    pub cpu_s: f64,
    /// Largest resident set, MiB.
    pub peak_rss_mib: f64,
    /// Its exit code, or -1.
    pub exit: i32,
}

/// Runs a command to its end and measures it.
///
/// The command runs under a process of its own that has no other child, because the peak memory of finished children
/// is only known for all of them together.
///
/// # Errors
/// If it cannot be started, or exits with another code than 0.
pub fn measure(command: &[OsString]) -> Result<Measured, Failure> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--measure-child")
        .args(command)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    let measured: Measured = serde_json::from_slice(&output.stdout)?;
    if measured.exit == 0 { Ok(measured) } else { Err(format!("{command:?} exited with {}", measured.exit).into()) }
}

/// The other half of [`measure`]: runs the command, waits, and says what it took.
///
/// # Errors
/// If it cannot be started.
pub fn measure_child(command: &[OsString]) -> Result<Measured, Failure> {
    let (program, arguments) = command.split_first().ok_or("no command")?;
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let wall_s = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Measured {
        wall_s,
        cpu_s: cpu as f64 / 1e6,
        peak_rss_mib: usage.max_rss() as f64 / 1024.0,
        exit: status.code().unwrap_or(-1),
    })
}
