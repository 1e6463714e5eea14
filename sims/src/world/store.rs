//! The simulated transfer store.

use dpone_engine::codes::Code;
use dpone_engine::ports::ObjectStore;
use dpone_engine::run::effect::ChunkFacts;
use dpone_engine::run::{Outcome, Receipt, Seen, Why};

use super::gate::{Act, Pid};
use super::source::facts as facts_of;
use super::{Body, Row, World};
use crate::fault::{Kind, Site};

/// One process's connection to the store.
pub struct SimStore {
    world: World,
    pid: Pid,
}

impl SimStore {
    /// A connection of that process.
    pub fn new(world: &World, pid: Pid) -> Self {
        Self { world: world.clone(), pid }
    }

    async fn fault(&self, site: Site) -> Option<Kind> {
        self.world.gates.travel().await;
        self.world.land_due();
        let fault = self.world.gates.look(site);
        if fault == Some(Kind::CrashBefore) {
            self.world.die(self.pid).await;
        }
        fault
    }
}

/// Create-only: an object that is there already is compared.
fn create(world: &World, key: &str, facts: &ChunkFacts, body: Body) -> Outcome {
    let mut state = world.state.borrow_mut();
    match state.objects.get(key) {
        None => {
            state.objects.insert(key.to_owned(), body);
        }
        Some(there) if facts_of(&there.rows) == *facts => {}
        Some(_) => return Outcome::NotDone(Why::fatal(Code::ObjectKeyConflict, "another object stands there")),
    }
    Outcome::Done(Receipt::Put { checked_by: "store_checksum".to_owned() })
}

impl ObjectStore for SimStore {
    type Body = Body;

    async fn put(&self, key: &str, facts: &ChunkFacts, body: &Body) -> Outcome {
        // Special faults are planned as such; the rest goes through the ordinary gate.
        let planned = {
            let (key, facts, body) = (key.to_owned(), facts.clone(), body.clone());
            let act: Act = Box::new(move |world| create(world, &key, &facts, body));
            act
        };
        self.world.gates.travel().await;
        self.world.land_due();
        match self.world.gates.look(Site::Put) {
            None => planned(&self.world),
            Some(Kind::CrashBefore) => self.world.die(self.pid).await,
            Some(Kind::CrashAfter) => {
                let _ = planned(&self.world);
                self.world.die(self.pid).await
            }
            Some(Kind::LostReply) => {
                let _ = planned(&self.world);
                Outcome::Unknown(Why::transient(Code::ObjectUploadUnconfirmed, "no reply came"))
            }
            Some(Kind::NotSent) => Outcome::Unknown(Why::transient(Code::ObjectUploadUnconfirmed, "no reply came")),
            Some(Kind::LateLanding) => {
                self.world.send_later(planned);
                Outcome::Unknown(Why::transient(Code::ObjectUploadUnconfirmed, "no reply came"))
            }
            Some(Kind::PartialWrite) => {
                let rows: Vec<Row> = body.rows[..body.rows.len() / 2].to_vec();
                let size = rows.len() as u64;
                self.world.state.borrow_mut().objects.insert(key.to_owned(), Body { rows, size });
                Outcome::Unknown(Why::transient(Code::ObjectUploadUnconfirmed, "the connection broke"))
            }
            Some(Kind::Foreign) => {
                let foreign = Body { rows: vec![Row { unit: u32::MAX, id: 0 }], size: 1 };
                self.world.state.borrow_mut().objects.insert(key.to_owned(), foreign);
                planned(&self.world)
            }
            Some(Kind::DiskFull) => Outcome::NotDone(Why::fatal(Code::SpoolDiskFull, "the disk is full")),
            Some(_) => Outcome::NotDone(Why::transient(Code::ObjectUploadFailed, "refused for now")),
        }
    }

    async fn head(&self, key: &str, facts: &ChunkFacts) -> Seen {
        match self.fault(Site::Head).await {
            Some(Kind::CannotTell) => return Seen::CannotTell,
            Some(Kind::StaleRead) => return Seen::Nothing,
            _ => {}
        }
        match self.world.state.borrow().objects.get(key) {
            None => Seen::Nothing,
            Some(there) if facts_of(&there.rows) == *facts => Seen::Ours,
            Some(_) => Seen::Foreign,
        }
    }

    async fn get(&self, key: &str, facts: &ChunkFacts) -> Result<Body, Why> {
        match self.fault(Site::Get).await {
            Some(Kind::Refused) => return Err(Why::transient(Code::ObjectUploadFailed, "refused for now")),
            Some(Kind::ObjectVanishes) => {
                self.world.state.borrow_mut().objects.remove(key);
            }
            _ => {}
        }
        match self.world.state.borrow().objects.get(key) {
            Some(there) if facts_of(&there.rows) == *facts => Ok(there.clone()),
            _ => Err(Why::fatal(Code::ObjectLost, "the object is gone or differs")),
        }
    }

    async fn delete(&self, key: &str) -> Outcome {
        let key = key.to_owned();
        let act: Act = Box::new(move |world| {
            let mut state = world.state.borrow_mut();
            if state.objects.get(&key).is_some_and(|b| b.rows.iter().any(|r| r.unit == u32::MAX)) {
                state.violations.push(format!("a foreign object was removed: {key}"));
            }
            state.objects.remove(&key);
            Outcome::Done(Receipt::Dropped)
        });
        self.world.send(self.pid, Site::Delete, act).await
    }
}
