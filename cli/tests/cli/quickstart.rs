//! The manifests that ship, as the README runs them.

use std::fs;
use std::path::Path;

use super::world::World;

#[test]
fn the_examples_deliver() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let world = World::new(0);
    fs::create_dir_all(world.path("docs/examples")).unwrap();
    for file in ["nycflights13.db", "quickstart.yaml", "weather-to-sqlite.yaml"] {
        fs::copy(examples.join(file), world.path("docs/examples").join(file)).unwrap();
    }
    for (manifest, rows) in [("quickstart", 27_004), ("weather-to-sqlite", 2_226)] {
        let manifest = format!("docs/examples/{manifest}.yaml");
        let before = world.listing();
        let plan = world.run(&["plan", &manifest, "--format", "json"]).with(0, "").json();
        assert!(plan["columnar_fast_path"]["details"]["range_parallelism"].is_object());
        assert_eq!(world.listing(), before, "a plan creates nothing");
        let told = world.run(&["run", &manifest, "--format", "json"]).with(0, "").json();
        assert_eq!((told["outcome"].as_str(), told["rows"].as_u64()), (Some("delivered"), Some(rows)));
        let read = told["ranges"].as_array().unwrap().iter().map(|r| r["rows"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(read, rows);
        let again = world.run(&["run", &manifest, "--resume", "--format", "json"]).with(0, "").json();
        assert_eq!(again["outcome"], "nothing_to_do");
    }
    world.run(&["journal", "verify"]).with(0, "");
}
