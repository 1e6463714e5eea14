//! What came of a run of the product, as a script meets it.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::product::{printed, run, run_with};

/// A process that ended.
#[derive(Debug)]
pub struct Ended(pub Output);

impl Ended {
    /// Runs the product in a folder, with its result as JSON.
    pub fn run(folder: &Path, arguments: &[&str]) -> Self {
        let json = [arguments, &["--format", "json", "--no-progress"]].concat();
        Self(run(folder, &json))
    }

    /// The same, with those variables in its environment.
    pub fn run_with(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let json = [arguments, &["--format", "json", "--no-progress"]].concat();
        Self(run_with(folder, &json, variables))
    }

    /// Its exit code; `None` if a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    /// What it printed on stderr.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// The object that it printed.
    ///
    /// # Panics
    /// If it printed anything else.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.0.stdout).unwrap_or_else(|e| panic!("{e}: {self}"))
    }

    /// Fails unless it ended with that exit code and says that on stderr.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn with(self, code: i32, err: &str) -> Self {
        assert!(self.code() == Some(code) && self.err().contains(err), "expected {code} and {err:?}: {self}");
        self
    }

    /// Fails unless it delivered.
    ///
    /// # Panics
    /// If it did not.
    #[track_caller]
    pub fn delivered(self) -> Self {
        let ended = self.with(0, "");
        assert_eq!(ended.json()["outcome"], "delivered", "{ended}");
        ended
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&printed(&self.0))
    }
}
