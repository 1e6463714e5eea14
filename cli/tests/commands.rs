//! The commands as a script sees them: exit codes, stdout, stderr.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;
use std::process::{Command, Output};

fn dpone(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpone")).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs in an empty folder; checks the exit code and that stderr holds the text.
fn check(arguments: &[&str], code: i32, error: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let output = dpone(folder.path(), arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    assert!(stderr.contains(error), "{arguments:?}: {stderr}");
    output
}

#[test]
fn usage_is_refused_with_2() {
    check(&["frobnicate"], 2, "frobnicate");
    check(&["run"], 2, "MANIFEST");
    check(&["run", "m.yaml", "--run-id", "a b"], 2, "--run-id");
    check(&["run", "missing.yaml"], 2, "error[manifest_not_found]");
    check(&["plan", "missing.yaml"], 2, "error[manifest_not_found]");
    check(&["runs"], 2, "error[journal_not_found]");
    check(&["journal", "verify"], 2, "error[journal_not_found]");
    check(&["explain", "run_unsetled"], 2, "run_unsettled");
}

#[test]
fn what_only_prints_ends_with_0() {
    assert!(
        String::from_utf8_lossy(&check(&["explain", "run_unsettled"], 0, "").stdout).starts_with("# run_unsettled")
    );
    let schema: serde_json::Value = serde_json::from_slice(&check(&["schema", "manifest"], 0, "").stdout).unwrap();
    assert!(schema.is_object());
    for shell in ["bash", "zsh", "fish"] {
        assert!(!check(&["completions", shell], 0, "").stdout.is_empty());
    }
}

#[test]
fn a_refused_run_is_one_json_object_too() {
    let output = check(&["run", "missing.yaml", "--format", "json"], 2, "manifest_not_found");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["code"], "manifest_not_found");
    assert_eq!(result["published"], false);
    assert_eq!(result["failure_class"], "preflight_block");
}

#[test]
fn a_plan_creates_nothing() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("docs/examples")).unwrap();
    std::fs::copy(examples.join("nycflights13.db"), folder.path().join("docs/examples/nycflights13.db")).unwrap();
    std::fs::copy(examples.join("quickstart.yaml"), folder.path().join("m.yaml")).unwrap();
    let output = dpone(folder.path(), &["plan", "m.yaml", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(plan["columnar_fast_path"]["details"]["range_parallelism"].is_object());
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["docs", "m.yaml"]);
}

#[test]
fn the_quickstart_delivers_and_is_then_nothing_to_do() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("docs/examples")).unwrap();
    std::fs::copy(examples.join("nycflights13.db"), folder.path().join("docs/examples/nycflights13.db")).unwrap();
    std::fs::copy(examples.join("quickstart.yaml"), folder.path().join("m.yaml")).unwrap();
    let output = dpone(folder.path(), &["run", "m.yaml", "--format", "json", "--run-id", "one"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["run_id"], "one");
    assert_eq!(result["outcome"], "delivered");
    assert_eq!(result["rows"], 27_004);
    assert_eq!(result["ranges"].as_array().unwrap().iter().map(|r| r["rows"].as_u64().unwrap()).sum::<u64>(), 27_004);
    assert!(result["next"].is_null());
    let again = dpone(folder.path(), &["run", "m.yaml", "--resume", "--format", "json"]);
    assert_eq!(again.status.code(), Some(0));
    let result: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(result["outcome"], "nothing_to_do");
    let verified = dpone(folder.path(), &["journal", "verify", "--format", "json"]);
    assert_eq!(verified.status.code(), Some(0));
    let inspected = dpone(folder.path(), &["journal", "inspect", "one"]);
    assert!(String::from_utf8_lossy(&inspected.stdout).contains("CleanupComplete"));
}
