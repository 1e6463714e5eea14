//! Help, completions, schema, explanations, and what is wrong on a command line.

use super::world::World;

#[test]
fn help_texts() {
    let world = World::new(0);
    for (name, arguments) in [
        ("dpone", &["--help"][..]),
        ("plan", &["plan", "--help"]),
        ("run", &["run", "--help"]),
        ("runs", &["runs", "--help"]),
        ("journal_inspect", &["journal", "inspect", "--help"]),
    ] {
        let help = world.run(arguments).with(0, "");
        insta::assert_snapshot!(name, help.out);
    }
}

#[test]
fn a_wrong_command_line_is_refused() {
    let world = World::new(1);
    let long = "x".repeat(65);
    for (arguments, says) in [
        (&["run"][..], "<MANIFEST>"),
        (&["rum", "m.yaml"], "unrecognized subcommand"),
        (&["run", "m.yaml", "--run-id", "a b"], "1 to 64 letters"),
        (&["run", "m.yaml", "--run-id", &long], "1 to 64 letters"),
        (&["run", "m.yaml", "--run-id", "a", "--resume"], "cannot be used with"),
        (&["run", "m.yaml", "--format", "xml"], "invalid value"),
        (&["-q", "-v", "runs"], "cannot be used with"),
        (&[], "Usage"),
    ] {
        let ended = world.run(arguments).with(2, says);
        assert!(arguments.is_empty() || ended.err.starts_with("error[usage_invalid]: "), "{ended}");
    }
    let told = world.run(&["run", "m.yaml", "--format", "json", "--bogus"]).with(2, "--bogus").json();
    assert_eq!((told["code"].as_str(), told["outcome"].as_str()), (Some("usage_invalid"), Some("failed")));
    assert_eq!(told["published"], false);
    assert_eq!(world.listing(), ["m.yaml", "source.db"], "nothing was created");
}

#[test]
fn completions_and_the_schema_are_printed() {
    let world = World::new(0);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(world.run(&["completions", shell]).with(0, "").out.contains("dpone"), "{shell}");
    }
    let schema = world.run(&["schema", "manifest"]).with(0, "").json();
    assert!(schema["properties"]["source"].is_object());
}

#[test]
fn codes_are_explained() {
    let world = World::new(0);
    let page = world.run(&["explain", "run_unsettled"]).with(0, "");
    assert!(page.out.starts_with("# run_unsettled\n"), "{page}");
    // As it was copied from an error.
    assert_eq!(world.run(&["explain", "error[run_unsettled]:"]).out, page.out);
    let unknown = world.run(&["explain", "run_unsetled"]).with(2, "Did you mean run_unsettled?");
    assert!(unknown.err.starts_with("error[usage_invalid]"), "{unknown}");
    assert!(world.run(&["explain", "--format", "md"]).with(0, "").out.contains("| `run_unsettled` |"));
    let all = world.run(&["explain", "--format", "json"]).with(0, "").json();
    let codes = all["codes"].as_array().unwrap();
    assert!(codes.len() > 80);
    for code in codes {
        let code = code["code"].as_str().unwrap();
        let page = world.run(&["explain", code, "--format", "json"]).with(0, "").json();
        assert_eq!(page["code"], code);
    }
}
