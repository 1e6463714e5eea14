//! The simulated transfer store.

use dpone_engine::codes::Code;
use dpone_engine::ports::ObjectStore;
use dpone_engine::run::effect::{ChunkFacts, EffectKind};
use dpone_engine::run::{Outcome, Receipt, Seen, Why};

use super::foreign;
use super::gate::Pid;
use super::landing::Act;
use super::source::facts as facts_of;
use super::{Body, Meter, Stored, World};
use crate::fault::{Kind, Site};

/// One process's connection to the store.
pub struct SimStore {
    world: World,
    pid: Pid,
    meter: Meter,
}

impl SimStore {
    /// A connection of that process.
    pub fn new(world: &World, pid: Pid, meter: &Meter) -> Self {
        Self { world: world.clone(), pid, meter: meter.clone() }
    }

    fn look(&self, key: &str, facts: &ChunkFacts) -> Seen {
        match self.world.state.borrow().objects.get(key) {
            None => Seen::Nothing,
            Some(there) if facts_of(&there.rows) == *facts => Seen::Ours,
            Some(_) => Seen::Foreign,
        }
    }
}

/// Create-only: an object that is there already is compared.
fn create(world: &World, key: &str, facts: &ChunkFacts, object: Stored) -> Outcome {
    let mut state = world.state.borrow_mut();
    match state.objects.get(key) {
        None => {
            state.objects.insert(key.to_owned(), object);
        }
        Some(there) if facts_of(&there.rows) == *facts => {}
        Some(_) => return Outcome::NotDone(Why::fatal(Code::ObjectKeyConflict, "another object stands there")),
    }
    Outcome::Done(Receipt::Put { checked_by: "store_checksum".to_owned() })
}

impl ObjectStore for SimStore {
    type Body = Body;

    async fn put(&self, key: &str, facts: &ChunkFacts, body: &Body) -> Outcome {
        let mut fault = self.world.pass(self.pid, Site::Put).await;
        if fault == Some(Kind::PartialWrite) {
            let rows = body.stored.rows[..body.stored.rows.len() / 2].to_vec();
            let half = Stored { size: rows.len() as u64, rows };
            self.world.state.borrow_mut().objects.insert(key.to_owned(), half);
            return Outcome::Unknown(Why::transient(Code::ObjectUploadUnconfirmed, "the connection broke"));
        }
        if fault == Some(Kind::Foreign) {
            self.world.state.borrow_mut().objects.insert(key.to_owned(), foreign::object());
            fault = None;
        }
        let (key, facts, object) = (key.to_owned(), facts.clone(), body.stored.clone());
        let act: Act = Box::new(move |world| create(world, &key, &facts, object));
        self.world.settle(self.pid, Site::Put, fault, act).await
    }

    async fn head(&self, key: &str, facts: &ChunkFacts) -> Seen {
        let seen = match self.world.pass(self.pid, Site::Head).await {
            Some(Kind::CannotTell) => Seen::CannotTell,
            Some(Kind::StaleRead) => Seen::Nothing,
            _ => self.look(key, facts),
        };
        if self.world.gates.is_verifying(self.pid) { seen } else { self.world.gates.saw(EffectKind::Put, seen) }
    }

    async fn get(&self, key: &str, facts: &ChunkFacts) -> Result<Body, Why> {
        match self.world.pass(self.pid, Site::Get).await {
            Some(Kind::Refused) => return Err(Why::transient(Code::ObjectUploadFailed, "refused for now")),
            Some(Kind::ObjectVanishes) => {
                self.world.state.borrow_mut().objects.remove(key);
            }
            _ => {}
        }
        match self.world.state.borrow().objects.get(key) {
            Some(there) if facts_of(&there.rows) == *facts => Ok(Body::new(there.clone(), &self.meter)),
            _ => Err(Why::fatal(Code::ObjectLost, "the object is gone or differs")),
        }
    }

    async fn delete(&self, key: &str) -> Outcome {
        self.world.forbid_while_unheard(key);
        let key = key.to_owned();
        let act: Act = Box::new(move |world| {
            world.state.borrow_mut().objects.remove(&key);
            Outcome::Done(Receipt::Dropped)
        });
        self.world.send(self.pid, Site::Delete, act).await
    }
}
