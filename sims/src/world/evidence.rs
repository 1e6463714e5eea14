//! The simulated evidence store.

use dpone_engine::ports::EvidenceStore;
use dpone_engine::run::{Outcome, Receipt};

use super::World;
use super::gate::Pid;
use super::landing::Act;
use crate::fault::Site;
use crate::rng::mix;

/// One process's connection to the evidence store.
pub struct SimEvidence {
    world: World,
    pid: Pid,
}

impl SimEvidence {
    /// A connection of that process.
    pub fn new(world: &World, pid: Pid) -> Self {
        Self { world: world.clone(), pid }
    }
}

impl EvidenceStore for SimEvidence {
    async fn write(&self, name: &str, document: &str) -> Outcome {
        let (name, document) = (name.to_owned(), document.to_owned());
        let act: Act = Box::new(move |world| {
            let sha256 = format!("{:016x}", document.bytes().fold(0, |h, b| mix(h ^ u64::from(b))));
            world.state.borrow_mut().documents.insert(name.clone(), (sha256.clone(), document));
            Outcome::Done(Receipt::Written { sha256, path: name })
        });
        self.world.send(self.pid, Site::Evidence, act).await
    }
}
