//! Options that change how things are printed.

use std::process::Stdio;

use super::world::{Ended, World};

#[test]
fn colour_only_where_it_is_asked_for() {
    let world = World::new(1);
    for (option, coloured) in [("auto", false), ("never", false), ("always", true)] {
        let ended = world.run(&["run", "none.yaml", "--color", option]).with(2, "manifest_not_found");
        assert_eq!(ended.err.contains('\x1b'), coloured, "{ended}");
        let ended = world.run(&["run", "m.yaml", "-v", "--color", option]).with(0, "Published");
        assert_eq!(ended.err.contains('\x1b'), coloured, "{ended}");
    }
}

#[test]
fn logs_go_to_stderr() {
    let world = World::new(10);
    let ended = world.run(&["run", "m.yaml", "-vv", "--log-format", "json", "--no-progress", "--format", "json"]);
    let ended = ended.with(0, "");
    assert_eq!(ended.json()["outcome"], "delivered");
    let logs: Vec<serde_json::Value> = ended.err.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(logs.iter().any(|l| l["fields"]["state"] == "Published"), "{ended}");
}

#[test]
fn a_json_log_is_json_whatever_is_said() {
    let world = World::new(10);
    for (arguments, code, says) in [
        (&["run", "m.yaml"][..], 0, "publishing"),
        (&["run", "m.yaml", "-vv"], 0, "intended"),
        (&["run", "none.yaml"], 2, "manifest_not_found"),
        (&["plan", "none.yaml"], 2, "manifest_not_found"),
        (&["run", "m.yaml", "--bogus"], 2, "usage_invalid"),
        (&["explain", "nope"], 2, "usage_invalid"),
    ] {
        let ended = world.run(&[arguments, &["--log-format", "json"]].concat()).with(code, says);
        for line in ended.err.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}\n{ended}"));
            assert!(line["timestamp"].is_string() && line["fields"].is_object(), "{line}");
        }
    }
}

/// A log that nobody reads any more ends no run.
#[test]
fn a_closed_stderr_ends_nothing() {
    let world = World::new(1000);
    for options in [&["-vv"][..], &["-v"], &[]] {
        let mut command = world.command(&["run", "m.yaml"]);
        let mut child = command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert!(child.wait_with_output().unwrap().status.success(), "{options:?}");
    }
}

#[test]
fn the_environment_can_name_the_journal() {
    let world = World::new(10);
    let ended = world.command(&["run", "m.yaml", "-q"]).env("DPONE_JOURNAL", "elsewhere.db").output().unwrap();
    assert!(ended.status.success());
    assert!(world.path("elsewhere.db").exists() && !world.path(".dpone/journal.db").exists());
}

#[test]
fn markdown_is_markdown() {
    let world = World::new(10);
    let receipt = world.run(&["run", "m.yaml", "--format", "md"]).with(0, "").out;
    assert!(receipt.starts_with("# orders: delivered\n") && receipt.contains("| range |"), "{receipt}");
    assert!(world.run(&["runs", "--format", "md"]).with(0, "").out.contains("| --- |"));
}

/// A result that cannot be written is said, and counts where the output is all that a command does.
#[test]
fn a_full_output_is_told() {
    let world = World::new(10);
    world.run(&["run", "m.yaml"]).with(0, "");
    for (arguments, code) in [
        (&["plan", "m.yaml"][..], 1),
        (&["runs"], 1),
        (&["journal", "verify"], 1),
        // The rows are delivered, whatever becomes of the receipt.
        (&["run", "m.yaml", "--format", "json"], 0),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ended: Ended = world.command(arguments).stdout(full).output().unwrap().into();
        ended.with(code, "error[output_not_written]");
    }
}
