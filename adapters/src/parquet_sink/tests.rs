#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;

use dpone_engine::manifest::{Quality, StrategyMode};
use dpone_engine::ports::{Claimant, PublishOrder, Staged};
use dpone_engine::run::{Effect, Outcome, Seen};
use dpone_engine::schema::Schema;

use super::pointer::{Pointer, books, pointer_path};
use super::{ParquetSink, ParquetTarget};
use crate::durable::watch;

#[test]
fn what_a_killed_process_left_is_durable_before_it_counts() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("d");
    let schema = Schema { columns: Vec::new() };
    let target = ParquetTarget { root: root.clone(), mode: StrategyMode::FullRefresh };
    let sink = ParquetSink::new(target, schema.clone(), Quality::default(), dir.path(), "fp");
    let claimant = Claimant { run: "r".to_owned(), epoch: 1, journal: "j".to_owned() };
    assert!(matches!(sink.make_claim(&claimant), Outcome::Done(_)));
    assert!(matches!(sink.make_staging(&claimant, "stg"), Outcome::Done(_)));
    // As it is after a kill between giving the version its name and syncing the folder.
    let pointer = Pointer::new(1, "pub", &claimant, "", &schema);
    fs::write(pointer_path(&root, 1), serde_json::to_vec(&pointer).unwrap()).unwrap();
    let staged = Staged { claimant: claimant.clone(), units: Vec::new(), staging: vec!["stg".to_owned()] };
    let order = PublishOrder { staged, publication: "pub".to_owned(), base: String::new() };
    for (effect, folder) in [
        (Effect::Claim { epoch: 1 }, books(&root)),
        (Effect::Stage { staging: "stg".to_owned(), unit: None }, root.clone()),
        (Effect::Publish { publication: "pub".to_owned() }, books(&root)),
    ] {
        let seen = || sink.sight(&claimant, &effect, Some(&order)).seen;
        watch::synced(&folder);
        assert_eq!((seen(), watch::synced(&folder)), (Seen::Ours, true), "{effect:?}");
        watch::fail(&folder, true);
        assert_eq!(seen(), Seen::CannotTell, "{effect:?}");
        watch::fail(&folder, false);
    }
    watch::fail(&books(&root), true);
    assert!(matches!(sink.publish_version(&order), Outcome::Unknown(_)));
    assert!(!matches!(sink.make_claim(&claimant), Outcome::Done(_)));
    watch::fail(&books(&root), false);
    assert!(matches!(sink.publish_version(&order), Outcome::Done(_)));
}
