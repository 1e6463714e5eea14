//! What the documents tell to run is there to be run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::world::World;

/// Every Markdown file of the repository's root and of `docs`.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("docs")];
    let mut found: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The commands of a page: what begins with `dpone` in code, on a line of its own or between backticks.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (number, block) in page.split("```").enumerate() {
        let codes: Vec<&str> = match number % 2 {
            1 => block.lines().collect(),
            _ => block.split('`').skip(1).step_by(2).collect(),
        };
        for code in codes {
            let code = code.split([';', '|', '#', '>']).next().unwrap().replace(['[', ']'], " ");
            let mut words = code.split_whitespace().map(str::to_owned);
            if words.next().is_some_and(|word| word == "dpone") {
                found.push(words.collect());
            }
        }
    }
    found
}

#[test]
fn every_command_in_the_documents_exists() {
    let world = World::new(0);
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for page in pages() {
        for words in commands(&fs::read_to_string(&page).unwrap()) {
            let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let names: Vec<&str> = words.iter().map(String::as_str).take_while(is_name).collect();
            let help = world.run(&[&names[..], &["--help"]].concat());
            let options = words.iter().filter(|word| word.starts_with('-'));
            let options: Vec<&str> = options.map(|word| word.split('=').next().unwrap()).collect();
            let lacks = |option: &&&str| !help.out.split([' ', ',', '\n']).any(|word| word == **option);
            let lacking: Vec<&&str> = options.iter().filter(lacks).collect();
            if help.code != Some(0) || !lacking.is_empty() {
                wrong.push(format!("{}: dpone {}: {lacking:?}", page.display(), words.join(" ")));
            }
            seen.insert(names.join(" "));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(["run", "plan", "journal inspect", "runs abandon"].iter().all(|name| seen.contains(*name)), "{seen:?}");
}
