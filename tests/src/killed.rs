//! A route that is killed again and again from the same beginning.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::facts::Step;
use crate::held::WAL;
use crate::killer::{Killer, Point};
use crate::product::{printed, run};
use crate::route::{Mode, Route, Sink, Source};
use crate::scratch::scratch;

/// Runs anew.
pub const RUN: [&str; 3] = ["run", "m.yaml", "--no-progress"];
/// Continues.
pub const RESUME: [&str; 4] = ["run", "m.yaml", "--no-progress", "--resume"];

/// A route over a target that one run has delivered to, and whatever was done since, to start from as often as needed.
pub struct Ground {
    /// The route; its folder is always the same.
    pub route: Route,
    /// What kills.
    pub killer: Killer,
    base: PathBuf,
    _folder: TempDir,
}

impl Ground {
    /// With one delivery.
    ///
    /// # Panics
    /// If it fails.
    pub fn new(sink: Sink, mode: Mode, per_partition: bool) -> Self {
        Self::from(Source::Sqlite, sink, mode, per_partition)
    }

    /// The same from a source of that kind.
    ///
    /// # Panics
    /// If it fails.
    pub fn from(source: Source, sink: Sink, mode: Mode, per_partition: bool) -> Self {
        let folder = scratch();
        let work = folder.path().join("work");
        fs::create_dir(&work).expect("a folder");
        let route = Route::from(&work, source, sink, mode, per_partition);
        let first = run(&work, &RUN);
        assert!(first.status.success(), "{}", printed(&first));
        let ground =
            Self { route, killer: Killer::new(folder.path()), base: folder.path().join("base"), _folder: folder };
        ground.keep();
        ground
    }

    /// What is there now is where every later try starts.
    ///
    /// # Panics
    /// If it cannot be copied.
    pub fn keep(&self) {
        copy(&self.route.folder, &self.base);
        self.route.keep();
    }

    /// Back to that.
    ///
    /// # Panics
    /// If it cannot be copied.
    pub fn reset(&self) {
        copy(&self.base, &self.route.folder);
        self.route.reset();
    }

    /// Every step that a command journals, in order.
    ///
    /// # Panics
    /// If the command fails.
    pub fn steps(&self, arguments: &[&str]) -> Vec<Step> {
        let mut held = self.killer.hold(&self.route.folder, arguments, WAL);
        let mut steps = Vec::new();
        while let Some(point) = held.next_point() {
            if point.synced(WAL) {
                steps = held.steps();
            }
        }
        let output = held.finish();
        assert!(output.status.success(), "{}", printed(&output));
        steps
    }

    /// Kills a command at a step's `nth` time.
    ///
    /// # Errors
    /// What it printed, if it ended before.
    ///
    /// # Panics
    /// If it is not killed.
    pub fn kill_at(&self, arguments: &[&str], step: &Step, nth: usize) -> Result<(), String> {
        let mut held = self.killer.hold(&self.route.folder, arguments, WAL);
        let Some(before) = held.reach(step, nth) else {
            return Err(format!("it did not come to {step:?}: {}", printed(&held.finish())));
        };
        assert_eq!(held.kill().status.signal(), Some(9));
        if let Step::Done(_) = step {
            // Which write records what an effect did is known only once it is made. Killed a moment earlier, the
            // process would have left the same, and the journal as it was before that write.
            before.put_back(&self.route.folder.join("journal.db"));
        }
        Ok(())
    }

    /// Every point of a command's work on files.
    ///
    /// # Panics
    /// If the command fails.
    pub fn points(&self, arguments: &[&str]) -> Vec<Point> {
        let (output, points) = self.killer.points(&self.route.folder, arguments);
        assert!(output.status.success(), "{}", printed(&output));
        points
    }

    /// Continues after a kill: a run that was killed before it was in the journal is simply run again.
    pub fn recover(&self) -> Output {
        let journal = self.route.folder.join("journal.db");
        let (runs, _) = crate::facts::Snapshot::of(&journal).facts();
        run(&self.route.folder, if runs < 2 { &RUN } else { &RESUME })
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    if to.exists() {
        fs::remove_dir_all(to).expect("the folder goes");
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(status.success(), "{} is copied", from.display());
}
