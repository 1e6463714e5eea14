//! `mutate`: every planted defect must be found.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::Path;

use super::Failure;
use crate::mutation::{ALL, Verdict, Workspace};

const HEAD: &str = "# Planted defects and what finds them

Written by `cargo run --release -p dpone-sims -- mutate`, which plants each of `sims/src/mutation/list.rs` in a copy of the
engine, the journal and the simulator, and plays seeds, then every single fault, then every pair of the smallest shape.

| defect | what it breaks | found by | first complaint |
|---|---|---|---|
";

/// Plants every defect, or the one of that name, prints what finds it, and writes the table if all were tried; true if
/// each was found.
///
/// # Errors
/// If a defect cannot be planted or built.
pub fn run(only: Option<&str>, out: &mut impl Write) -> Result<bool, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the package has no parent folder")?;
    let workspace = Workspace::of(root)?;
    let mut table = HEAD.to_owned();
    let mut well = true;
    for mutation in ALL.iter().filter(|m| only.is_none_or(|name| m.name == name)) {
        match workspace.try_out(mutation)? {
            Verdict::Killed { by, complaint } => {
                writeln!(out, "{}: found by {by}: {complaint}", mutation.name)?;
                writeln!(table, "| {} | {} | {by} | {} |", mutation.name, mutation.what, complaint.replace('|', "/"))?;
            }
            Verdict::Survived => {
                well = false;
                writeln!(out, "{}: SURVIVED", mutation.name)?;
                writeln!(table, "| {} | {} | **nothing** | |", mutation.name, mutation.what)?;
            }
        }
        out.flush()?;
    }
    if only.is_none() {
        fs::write(root.join("sims/mutations.md"), table)?;
    }
    Ok(well)
}
