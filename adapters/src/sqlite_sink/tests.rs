#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use dpone_engine::ports::Claimant;
use dpone_engine::run::{Effect, Seen};

use super::claim::take;
use super::database::open;
use super::probe::probe;
use crate::durable::watch;

#[test]
fn what_a_killed_process_committed_is_durable_before_it_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.db");
    let claimant = Claimant { run: "r".to_owned(), epoch: 1, journal: "j".to_owned() };
    take(&path, "target", &claimant).unwrap();
    let ledger = "INSERT INTO __dpone_ledger (publication, target, journal, run, identity, rows, published)
                  VALUES ('pub', 'target', 'j', 'r', 'i', 1, 1)";
    open(&path).unwrap().execute_batch(ledger).unwrap();
    for effect in [Effect::Claim { epoch: 1 }, Effect::Publish { publication: "pub".to_owned() }] {
        let seen = || probe(&path, "target", "t", &claimant, &effect, None).unwrap().seen;
        watch::synced(dir.path());
        assert_eq!((seen(), watch::synced(dir.path())), (Seen::Ours, true), "{effect:?}");
        watch::fail(dir.path(), true);
        assert_eq!(seen(), Seen::CannotTell, "{effect:?}");
        watch::fail(dir.path(), false);
    }
}
