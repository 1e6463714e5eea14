//! Mutations of the machine: each is one replacement in a source file, made in a copy of the workspace, and must be
//! noticed by the model. The shipped engine has no hooks for it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use crate::generate;

/// One mutation, as `mutations.txt` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Its name.
    pub name: String,
    /// The file, from the workspace's root.
    pub file: String,
    /// The configuration that must notice it.
    pub config: String,
    /// The text that is replaced; it occurs once.
    pub find: String,
    /// What replaces it.
    pub replace: String,
}

/// Reads the list. An entry is a line `== NAME CONFIG FILE`, the text to find, a line `--`, and its replacement.
pub fn parse(text: &str) -> Vec<Mutation> {
    let mut all = Vec::new();
    for entry in text.split("\n== ").skip(1) {
        let Some((head, body)) = entry.split_once('\n') else { continue };
        let (find, replace) = body.split_once("\n--\n").unwrap_or((body.trim_end_matches("\n--"), ""));
        let mut words = head.split_whitespace().map(str::to_owned);
        if let (Some(name), Some(config), Some(file)) = (words.next(), words.next(), words.next()) {
            let replace = replace.trim_end_matches('\n').to_owned();
            all.push(Mutation { name, file, config, find: find.to_owned(), replace });
        }
    }
    all
}

/// The recorded list.
///
/// # Errors
/// If it cannot be read.
pub fn recorded() -> io::Result<Vec<Mutation>> {
    Ok(parse(&fs::read_to_string(generate::root().join("mutations.txt"))?))
}

/// Makes the named mutations, or every one, and says which were noticed; false if one was not.
///
/// # Errors
/// If the copy cannot be made.
pub fn run(names: &[&str], out: &mut impl Write) -> io::Result<bool> {
    let root = generate::root();
    let Some(workspace) = root.parent() else { return Ok(false) };
    let copy = workspace.join("target").join("mutate");
    let mut all_noticed = true;
    for mutation in recorded()?.iter().filter(|m| names.is_empty() || names.contains(&m.name.as_str())) {
        let source = fs::read_to_string(workspace.join(&mutation.file))?;
        if source.matches(&mutation.find).count() != 1 {
            writeln!(out, "{:<36} STALE: its text does not occur once in {}", mutation.name, mutation.file)?;
            all_noticed = false;
            continue;
        }
        mirror(workspace, &copy)?;
        fs::write(copy.join(&mutation.file), source.replacen(&mutation.find, &mutation.replace, 1))?;
        let (verdict, noticed) = explore(&copy, &mutation.config)?;
        writeln!(out, "{:<36} {verdict}", mutation.name)?;
        all_noticed &= noticed;
    }
    Ok(all_noticed)
}

/// Runs the model in the copy.
fn explore(copy: &Path, config: &str) -> io::Result<(String, bool)> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Not the workspace's own target folder: cargo would take what was built from the copy for the workspace's.
    let target = copy.join("target");
    let built = Command::new(&cargo)
        .args(["build", "-q", "-p", "dpone-spec"])
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(copy)
        .output()?;
    if !built.status.success() {
        return Ok(("DOES NOT BUILD".to_owned(), false));
    }
    let ran = Command::new(target.join("debug/dpone-spec")).args(["check", config, "--first"]).output()?;
    let text = String::from_utf8_lossy(&ran.stdout);
    // A smaller model is a symptom; only an invariant tells what is wrong.
    let mut told = text.lines().filter_map(|line| line.trim().strip_prefix("FAILED: "));
    let found = told.find(|name| !name.starts_with("fewer states") && !name.starts_with("never seen"));
    Ok(match found {
        Some(name) => (format!("noticed by {config}: {name}"), true),
        None => ("SURVIVED".to_owned(), false),
    })
}

/// Copies what the model is built from; a file that is the same is left alone, so that it is not built again.
fn mirror(workspace: &Path, copy: &Path) -> io::Result<()> {
    for entry in fs::read_dir(workspace)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != "target" && !name.to_string_lossy().starts_with(".git") {
            mirror_entry(&entry.path(), &copy.join(name))?;
        }
    }
    Ok(())
}

fn mirror_entry(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            mirror_entry(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let content = fs::read(from)?;
    if fs::read(to).ok().as_deref() != Some(&content) {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(to, content)?;
    }
    Ok(())
}
