//! Gathers the pages of `docs/errors` into the binary, so that `dpone explain` works anywhere.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../docs/errors");
    let folder = folder.canonicalize()?;
    let mut pages: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md") {
            let code = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            pages.push((code, path));
        }
    }
    pages.sort();
    let mut source = String::from("/// Every page, by code, sorted.\npub(crate) const PAGES: &[(&str, &str)] = &[\n");
    for (code, path) in &pages {
        let _ = writeln!(source, "    ({code:?}, include_str!({:?})),", path.display().to_string());
        println!("cargo::rerun-if-changed={}", path.display());
    }
    source.push_str("];\n");
    println!("cargo::rerun-if-changed={}", folder.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("pages.rs");
    fs::write(out, source)
}
