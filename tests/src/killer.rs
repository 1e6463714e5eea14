//! Kills the product at exact points of its work on files: see `fixtures/killat.c`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::held::Held;
use crate::product::dpone;

/// The library that kills.
pub struct Killer {
    library: PathBuf,
}

/// One point where the product can be killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its number, from 1.
    pub number: u64,
    /// `before` or `after`.
    pub side: String,
    /// The call.
    pub call: String,
    /// The file.
    pub path: String,
}

impl Point {
    /// As the library writes it.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        Some(Self {
            number: words.next()?.parse().ok()?,
            side: words.next()?.to_owned(),
            call: words.next()?.to_owned(),
            path: words.next()?.to_owned(),
        })
    }

    /// Whether a file whose path holds that text has just become durable.
    pub fn synced(&self, path: &str) -> bool {
        self.side == "after" && self.call.ends_with("sync") && self.path.contains(path)
    }

    /// Whether a file whose path holds that text is about to be written.
    pub fn writes(&self, path: &str) -> bool {
        self.side == "before" && self.call.contains("write") && self.path.contains(path)
    }
}

impl Killer {
    /// Compiles the library into a folder.
    ///
    /// # Panics
    /// If there is no C compiler.
    pub fn new(folder: &Path) -> Self {
        let library = folder.join("killat.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/killat.c");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(&source)
            .args(["-ldl", "-lpthread"])
            .status()
            .expect("a C compiler");
        assert!(status.success(), "the killer compiles");
        Self { library }
    }

    /// Runs the product to its end and lists every point it passed.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn points(&self, folder: &Path, arguments: &[&str]) -> (Output, Vec<Point>) {
        let log = folder.join("points.log");
        let output = self.command(folder, arguments).env("KILL_LOG", &log).output().expect("the product starts");
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(&log);
        let points = text.lines().filter_map(Point::parse);
        (output, points.collect())
    }

    /// Runs the product and kills it at a point; it may end before it gets there.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn kill_at(&self, folder: &Path, arguments: &[&str], number: u64) -> Output {
        self.command(folder, arguments).env("KILL_AT", number.to_string()).output().expect("the product starts")
    }

    /// Starts the product so that it stops at every point whose path holds `only`, until it is told to go on. Its journal
    /// is `journal.db`.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn hold(&self, folder: &Path, arguments: &[&str], only: &str) -> Held {
        self.hold_journal(folder, arguments, only, "journal.db")
    }

    /// As [`hold`](Self::hold), with a journal somewhere else.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn hold_journal(&self, folder: &Path, arguments: &[&str], only: &str, journal: &str) -> Held {
        Held::start(self.command(folder, arguments), folder.join(journal), only)
    }

    /// As [`hold`](Self::hold), of a command that starts the product.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn hold_command(&self, mut command: Command, folder: &Path, only: &str) -> Held {
        command.current_dir(folder).env("LD_PRELOAD", &self.library);
        Held::start(command, folder.join("journal.db"), only)
    }

    fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(dpone());
        command.args(arguments).current_dir(folder).env("LD_PRELOAD", &self.library);
        command
    }
}
