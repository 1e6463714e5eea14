//! Rules about the repository itself.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let codes: BTreeSet<String> = Code::ALL.iter().map(|c| c.as_str().to_owned()).collect();
    let pages: BTreeSet<String> = fs::read_dir(root().join("docs/errors"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "md"))
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(codes.difference(&pages).collect::<Vec<_>>(), Vec::<&String>::new(), "codes without a page");
    assert_eq!(pages.difference(&codes).collect::<Vec<_>>(), Vec::<&String>::new(), "pages without a code");
}

#[test]
fn every_page_says_what_to_do() {
    for code in Code::ALL {
        let page = fs::read_to_string(root().join(format!("docs/errors/{code}.md"))).unwrap();
        assert!(page.starts_with(&format!("# {code}\n")), "{code}: the page begins with the code");
        assert!(page.lines().count() > 4, "{code}: the page says what to do");
    }
}

/// Which of the workspace's crates each one may depend on.
const ARROWS: [(&str, &[&str]); 5] = [
    ("engine", &[]),
    ("journal", &["dpone-engine"]),
    ("adapters", &["dpone-engine"]),
    ("cli", &["dpone-engine", "dpone-journal", "dpone-adapters"]),
    ("sims", &["dpone-engine", "dpone-journal"]),
];

#[test]
fn crates_depend_only_along_the_arrows() {
    for (folder, allowed) in ARROWS {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap().to_owned();
        let found: BTreeSet<&str> = dependencies
            .lines()
            .filter_map(|l| l.split(['.', ' ', '=']).next())
            .filter(|name| name.starts_with("dpone"))
            .collect();
        for name in found {
            assert!(allowed.contains(&name), "{folder} must not depend on {name}");
        }
    }
}

#[test]
fn files_are_of_a_readable_length() {
    let mut long = Vec::new();
    for folder in ["engine", "journal", "adapters", "cli", "sims", "spec", "tests"] {
        for file in dpone_tests::route::files(&root().join(folder)) {
            if file.ends_with(".rs") && !file.starts_with("target/") {
                let lines = fs::read_to_string(root().join(folder).join(&file)).unwrap().lines().count();
                if lines > 500 {
                    long.push(format!("{folder}/{file}: {lines}"));
                }
            }
        }
    }
    assert_eq!(long, Vec::<String>::new(), "files of more than 500 lines");
}

/// The name that a heading has in an address.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c)).collect::<String>().replace(' ', "-")
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let root = root();
    let below = |folder: &str| {
        let files = dpone_tests::route::files(&root.join(folder)).into_iter();
        files.map(|file| root.join(folder).join(file)).collect::<Vec<_>>()
    };
    let mut pages: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)).into();
    pages.extend(
        ["docs", "spec", "engine", "journal", "adapters", "cli", "sims", "tests"].iter().flat_map(|f| below(f)),
    );
    pages.retain(|page| page.extension().is_some_and(|e| e == "md"));
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            count += 1;
            let (path, part) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let leads = target.exists()
                && (part.is_empty() || {
                    let target = fs::read_to_string(&target).unwrap();
                    let mut headings = target.lines().filter(|line| line.starts_with('#'));
                    headings.any(|line| anchor(line.trim_start_matches('#').trim()) == part)
                });
            if !leads {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count > 30, "{count} links were found");
}
