//! A copy of what the simulator is built from, outside of the repository, where defects are planted one at a time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Mutation;

/// The parts of the repository that are copied.
const PARTS: [&str; 3] = ["engine", "journal", "sims"];
/// What is played against a planted defect, until something finds it.
const PROOFS: [(&str, &[&str]); 4] = [
    ("seeds", &["run", "--seeds", "6000", "--until-broken"]),
    ("seeds on SQLite", &["run", "--seeds", "500", "--journal", "sqlite", "--until-broken"]),
    ("single faults", &["systematic", "--pairs", "0"]),
    ("pairs", &["systematic", "--pairs", "1"]),
];
/// What writes to a journal in SQLite.
const LOG: &str = "journal/src/log.rs";
/// How long one of them may take before the defect counts as one that hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// The copy.
pub struct Workspace {
    origin: PathBuf,
    copy: PathBuf,
}

/// What came of a planted defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was found, by this.
    Killed {
        /// Which proof.
        by: &'static str,
        /// Its first complaint.
        complaint: String,
    },
    /// Nothing found it.
    Survived,
}

impl Workspace {
    /// A copy of the repository at `origin`, in the folder for temporary files. Its build results are kept there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn of(origin: &Path) -> io::Result<Self> {
        let copy = std::env::temp_dir().join("dpone-mutations");
        for part in PARTS {
            mirror(&origin.join(part), &copy.join(part))?;
        }
        for file in ["Cargo.lock", "rust-toolchain.toml"] {
            write(&copy.join(file), &fs::read_to_string(origin.join(file))?)?;
        }
        let manifest = fs::read_to_string(origin.join("Cargo.toml"))?;
        let lines = manifest.lines().map(|line| match line.split('=').next().map(str::trim) {
            Some("members") => "members = [\"engine\", \"journal\", \"sims\"]",
            Some("default-members") => "",
            _ => line,
        });
        write(&copy.join("Cargo.toml"), &(lines.collect::<Vec<_>>().join("\n") + "\n"))?;
        Ok(Self { origin: origin.to_owned(), copy })
    }

    /// Plants a defect, plays everything against it until something finds it, and takes it out again.
    ///
    /// # Errors
    /// If an edit does not fit any more, or the copy cannot be built.
    pub fn try_out(&self, mutation: &Mutation) -> io::Result<Verdict> {
        let verdict = self.plant(mutation).and_then(|()| {
            self.build()?;
            self.judge(mutation)
        });
        for edit in mutation.edits {
            write(&self.copy.join(edit.file), &fs::read_to_string(self.origin.join(edit.file))?)?;
        }
        verdict
    }

    fn plant(&self, mutation: &Mutation) -> io::Result<()> {
        for edit in mutation.edits {
            let path = self.copy.join(edit.file);
            let text = fs::read_to_string(&path)?;
            let planted = edit.apply(&text).ok_or_else(|| {
                io::Error::other(format!("{}: {} does not hold once: {}", mutation.name, edit.file, edit.find))
            })?;
            write(&path, &planted)?;
        }
        Ok(())
    }

    fn build(&self) -> io::Result<()> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--quiet", "--offline", "--package", "dpone-sims"])
            .current_dir(&self.copy)
            .env("CARGO_TARGET_DIR", self.copy.join("target"))
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    fn judge(&self, mutation: &Mutation) -> io::Result<Verdict> {
        let binary = self.copy.join("target/debug/dpone-sims");
        // Only a journal in SQLite has what is broken in SQLite.
        let only_there = mutation.edits.iter().any(|e| e.file.starts_with("journal/src/sqlite") || e.file == LOG);
        for (by, arguments) in PROOFS.into_iter().filter(|(by, _)| !only_there || by.ends_with("SQLite")) {
            let transcript = self.copy.join("transcript");
            let file = fs::File::create(&transcript)?;
            let child = Command::new(&binary).args(arguments).stdout(file).stderr(Stdio::null()).spawn()?;
            if let Some(failed) = wait(child)? {
                if !failed {
                    continue;
                }
                let transcript = fs::read_to_string(&transcript)?;
                let complaint = transcript.lines().find(|line| line.starts_with("seed ") || line.starts_with("  "));
                let complaint = complaint.unwrap_or("a panic").trim().to_owned();
                return Ok(Verdict::Killed { by, complaint });
            }
            return Ok(Verdict::Killed { by, complaint: "it hangs".to_owned() });
        }
        Ok(Verdict::Survived)
    }
}

/// Whether the process failed; `None` if it had to be ended.
fn wait(mut child: Child) -> io::Result<Option<bool>> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(!status.success()));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Copies a folder's files, leaving those alone that are the same.
fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            mirror(&entry.path(), &target)?;
        } else {
            let bytes = fs::read(entry.path())?;
            if fs::read(&target).ok().as_ref() != Some(&bytes) {
                fs::write(&target, bytes)?;
            }
        }
    }
    Ok(())
}

/// Writes a text unless it is there already.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).ok().as_deref() == Some(text) {
        return Ok(());
    }
    fs::write(path, text)
}
