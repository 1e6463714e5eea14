//! `mutate`: every planted defect must be found.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::Failure;
use crate::mutation::{ALL, Verdict, Workspace};

const HEAD: &str = "# Planted defects and what finds them

Written by `cargo run --release -p dpone-sims -- mutate`, which plants each of `sims/src/mutation/list.rs` in a copy of the
engine, the journal and the simulator, and plays seeds, seeds whose journal is in SQLite, every single fault, and every pair of the smallest shape, in this order.
A defect of the journal in SQLite is only looked for with seeds that have one.

| defect | what it breaks | found by | first complaint |
|---|---|---|---|
";

/// Plants every defect, or those of these names, prints what finds each, and writes the table; true if each was found.
///
/// # Errors
/// If a defect cannot be planted or built.
pub fn run(only: &[&str], out: &mut impl Write) -> Result<bool, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the package has no parent folder")?;
    if let Some(unknown) = only.iter().find(|name| ALL.iter().all(|m| m.name != **name)) {
        return Err(format!("there is no defect {unknown}").into());
    }
    let workspace = Workspace::of(root)?;
    let path = root.join("sims/mutations.md");
    let mut well = true;
    for mutation in ALL.iter().filter(|m| only.is_empty() || only.contains(&m.name)) {
        let (by, complaint) = match workspace.try_out(mutation)? {
            Verdict::Killed { by, complaint } => (by, complaint),
            Verdict::Survived => ("**nothing**", String::new()),
        };
        well &= !complaint.is_empty();
        writeln!(out, "{}: found by {by}: {complaint}", mutation.name)?;
        out.flush()?;
        let row = format!("| {} | {} | {by} | {} |", mutation.name, mutation.what, complaint.replace('|', "/"));
        let former = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, table(&former, mutation.name, &row))?;
    }
    Ok(well)
}

/// The table with a defect's row replaced, in the order of the list.
fn table(former: &str, name: &str, row: &str) -> String {
    let begins = |line: &str, name: &str| line.strip_prefix("| ").is_some_and(|l| l.starts_with(&format!("{name} |")));
    let rows = ALL.iter().filter_map(|m| {
        let kept = || former.lines().find(|line| begins(line, m.name));
        if m.name == name { Some(row) } else { kept() }
    });
    rows.fold(HEAD.to_owned(), |table, row| table + row + "\n")
}
