//! Help, completions, schema, explanations, and what is wrong on a command line.

use serde_json::Value;

use super::world::{Ended, World};

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
        // A script's variable that is empty names no run, and does not mean the newest.
        (&["run", "m.yaml", "--resume="], "1 to 64 letters"),
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

/// What the environment says about logs is followed or refused.
#[test]
fn a_log_filter_that_cannot_be_read_is_refused() {
    let world = World::new(1);
    let ended = |filter: &str, arguments: &[&str]| -> Ended {
        world.command(arguments).env("DPONE_LOG", filter).output().unwrap().into()
    };
    for (filter, says) in [
        ("inof", "\"inof\" is no level"),
        ("info,dpone_engin", "is no level"),
        ("dpone=loud", "DPONE_LOG cannot be read"),
        ("dpone[", "DPONE_LOG cannot be read"),
    ] {
        let told = ended(filter, &["run", "m.yaml", "--format", "json"]).with(2, "error[usage_invalid]").with(2, says);
        let told = told.json();
        assert_eq!(
            (told["code"].as_str(), told["published"].as_bool()),
            (Some("usage_invalid"), Some(false)),
            "{told}"
        );
        ended(filter, &["plan", "m.yaml"]).with(2, says);
    }
    assert_eq!(world.listing(), ["m.yaml", "source.db"], "nothing was created");
    for filter in ["", "warn", "OFF", "error,dpone_engine=info", "dpone[run]=debug"] {
        ended(filter, &["plan", "m.yaml"]).with(0, "");
    }
    assert!(ended("info", &["run", "m.yaml"]).with(0, "").err.contains("Published"));
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

/// Every key, its words and its meaning stand in the manual as they stand in the schema, and no other key does.
#[test]
fn the_manual_has_every_key() {
    fn parts<'a>(node: &'a Value, defs: &'a Value) -> Vec<&'a Value> {
        let mut all = vec![node];
        let mut next = 0;
        while let Some(node) = all.get(next).copied() {
            next += 1;
            if let Some(name) = node["$ref"].as_str() {
                all.push(&defs[name.rsplit('/').next().unwrap()]);
            }
            for key in ["anyOf", "oneOf", "allOf"] {
                all.extend(node[key].as_array().into_iter().flatten());
            }
            all.extend(node.get("items"));
        }
        all
    }
    fn words(parts: &[&Value]) -> String {
        let mut words = Vec::new();
        for part in parts {
            let consts = part.get("const").and_then(Value::as_str);
            words.extend(
                consts.into_iter().chain(part["enum"].as_array().into_iter().flatten().filter_map(Value::as_str)),
            );
        }
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    }
    fn walk(node: &Value, defs: &Value, path: &str, rows: &mut Vec<String>) {
        for part in parts(node, defs) {
            for (key, value) in part["properties"].as_object().into_iter().flatten() {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let below = parts(value, defs);
                let has_keys = below.iter().any(|part| part.get("properties").is_some());
                let words = if has_keys { String::new() } else { words(&below) };
                let said = value["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
                let said = said.join(" ").replace('|', "\\|");
                rows.push(format!("| `{path}` | {words} | {said} |").replace("|  |", "| |"));
                walk(value, defs, &path, rows);
            }
        }
    }
    let world = World::new(10);
    let schema = world.run(&["schema", "manifest"]).with(0, "").json();
    let mut wanted = Vec::new();
    walk(&schema, &schema["$defs"], "", &mut wanted);
    let page = include_str!("../../../docs/manifest.md");
    let mut there: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    wanted.sort();
    there.sort_unstable();
    assert_eq!(there, wanted);

    for example in page.split("```yaml\n").skip(1) {
        std::fs::write(world.path("m.yaml"), example.split("```").next().unwrap()).unwrap();
        world.run(&["plan", "m.yaml"]).with(0, "");
    }
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
