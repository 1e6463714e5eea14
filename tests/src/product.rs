//! The product under test: the binary that ships, run as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the binary of this build is; builds it if it is not there.
///
/// # Panics
/// If it cannot be built.
pub fn dpone() -> PathBuf {
    let mut folder = std::env::current_exe().expect("a test knows where it is");
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let binary = folder.join("dpone");
    if !binary.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "dpone"]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "the product builds");
    }
    binary
}

/// Runs the product in a folder.
///
/// # Panics
/// If it cannot be started.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_with(folder, arguments, &[])
}

/// Runs the product in a folder with those variables in its environment.
///
/// # Panics
/// If it cannot be started.
pub fn run_with(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(dpone());
    command.args(arguments).current_dir(folder).envs(variables.iter().copied());
    command.output().expect("the product starts")
}

/// A line-by-line picture of what a process printed, for messages.
pub fn printed(output: &Output) -> String {
    format!(
        "{}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
