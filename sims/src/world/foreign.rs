//! What others do to the same target, source and store.

use dpone_engine::ports::Claimant;

use super::sink::Publication;
use super::{Row, Stored, World};

/// The identity under which an earlier run of the same journal published what the target holds.
pub const EARLIER: &str = "pub_earlier";
/// The run of another journal.
pub const STRANGER: &str = "stranger";

/// An object that no run of ours wrote.
pub fn object() -> Stored {
    Stored { rows: vec![Row { unit: u32::MAX, id: 0 }], size: 1 }
}

/// Whether an object is one that no run of ours wrote.
pub fn is_foreign(object: &Stored) -> bool {
    object.rows.iter().any(|r| r.unit == u32::MAX)
}

impl World {
    /// Another run takes the claim, if it is free, and gives it back later.
    pub fn foreign_claim(&self) {
        let target = &mut self.state.borrow_mut().target;
        if target.claim.is_some() {
            return;
        }
        target.claim = Some(Claimant { run: STRANGER.to_owned(), epoch: 1, journal: STRANGER.to_owned() });
        self.gates.send_later(Box::new(|world| {
            let target = &mut world.state.borrow_mut().target;
            if target.claim.as_ref().is_some_and(|c| c.run == STRANGER) {
                target.claim = None;
            }
        }));
    }

    /// Someone who heeds no claim changes the target's content.
    pub fn foreign_publish(&self) {
        let target = &mut self.state.borrow_mut().target;
        let number = target.publications.len() as u64;
        target.content = vec![Row { unit: u32::MAX, id: number }];
        let content = target.content.clone();
        let identity = format!("pub_{STRANGER}_{number}");
        let (run, journal) = (STRANGER.to_owned(), STRANGER.to_owned());
        target.publications.push(Publication { run, journal, identity, rows: 1, content });
    }

    /// The source changes: one row is replaced, one may come.
    pub fn change_source(&self, draw: u64) {
        let mut state = self.state.borrow_mut();
        state.version += 1;
        let version = state.version;
        let count = state.rows.len() as u64;
        if let Some(row) = state.rows.get_mut((draw % count.max(1)) as usize) {
            row.id = crate::rng::mix(row.id ^ version);
        }
        if draw.is_multiple_of(3) {
            let unit = state.rows.first().map_or(0, |r| r.unit);
            state.rows.push(Row { unit, id: crate::rng::mix(draw ^ version) });
        }
        let rows = state.rows.clone();
        state.history.insert(version, rows);
    }
}
