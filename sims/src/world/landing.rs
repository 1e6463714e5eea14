//! What becomes of a request: it is done at once, or lands later, whoever is alive then.

use std::collections::BTreeSet;

use dpone_engine::codes::Code;
use dpone_engine::run::{Outcome, Why};

use super::gate::Pid;
use super::{State, World};
use crate::fault::{Kind, Site};

/// A request that is on its way to the world, and what its reply is if it arrives.
pub type Act = Box<dyn FnOnce(&World) -> Outcome>;

impl World {
    /// The process dies here: nothing after this happens.
    pub async fn die<T>(&self, pid: Pid) -> T {
        self.gates.kill(pid);
        std::future::pending().await
    }

    /// Passes a gate: time goes by, and what may go wrong with any call goes wrong here. The rest is answered.
    pub async fn pass(&self, pid: Pid, site: Site) -> Option<Kind> {
        self.gates.travel().await;
        self.land_due();
        let fault = self.gates.look(site);
        match fault {
            Some(Kind::CrashBefore) => self.die(pid).await,
            Some(Kind::Pause) => self.gates.freeze(pid).await,
            Some(Kind::Stop) => self.gates.stop(pid),
            Some(Kind::Abandon) => self.gates.abandon(pid),
            Some(Kind::ForeignClaim) => self.foreign_claim(),
            Some(Kind::ForeignPublish) => self.foreign_publish(),
            other => return other,
        }
        self.land_due();
        None
    }

    /// Sends a request through a gate.
    pub async fn send(&self, pid: Pid, site: Site, act: Act) -> Outcome {
        let fault = self.pass(pid, site).await;
        self.settle(pid, site, fault, act).await
    }

    /// What becomes of a request under a fault.
    pub async fn settle(&self, pid: Pid, site: Site, fault: Option<Kind>, act: Act) -> Outcome {
        let lost = || Outcome::Unknown(Why::transient(unknown_code(site), "no reply came"));
        match fault {
            None => {
                let outcome = self.perform(pid, act);
                self.gates.travel().await;
                outcome
            }
            Some(Kind::CrashAfter) => {
                let _ = self.perform(pid, act);
                self.die(pid).await
            }
            Some(Kind::LostReply) => {
                let _ = self.perform(pid, act);
                lost()
            }
            Some(Kind::NotSent) => lost(),
            Some(Kind::LateLanding) => {
                self.gates.send_later(Box::new(|world| {
                    world.remember_late(act);
                }));
                lost()
            }
            Some(Kind::DiskFull) => Outcome::NotDone(Why::fatal(Code::SpoolDiskFull, "the disk is full")),
            Some(Kind::Denied) => Outcome::NotDone(Why::fatal(refused_code(site), "refused for good")),
            Some(_) => Outcome::NotDone(Why::transient(refused_code(site), "refused for now")),
        }
    }

    /// Does it now. What a process does after it was frozen counts as late.
    fn perform(&self, pid: Pid, act: Act) -> Outcome {
        if self.gates.was_frozen(pid) { self.remember_late(act) } else { act(self) }
    }

    /// Does it, and remembers what it brought into the world: its runner may have been followed by another that has
    /// already looked for it in vain.
    fn remember_late(&self, act: Act) -> Outcome {
        let before = names(&self.state.borrow());
        let outcome = act(self);
        let after = names(&self.state.borrow());
        self.state.borrow_mut().late.extend(after.difference(&before).cloned());
        outcome
    }

    /// Lands what was on its way and is due.
    pub fn land_due(&self) {
        while let Some(landing) = self.gates.due() {
            self.gates.note(|| "a late request lands".to_owned());
            landing(self);
        }
    }

    /// Lands everything that is still on its way.
    pub fn land_all(&self) {
        self.time.pass(self.gates.last_landing().saturating_sub(self.time.now()));
        self.land_due();
    }
}

/// Everything that stands beside the target's content.
fn names(state: &State) -> BTreeSet<String> {
    let target = &state.target;
    state.objects.keys().chain(target.staging.keys()).chain(target.loads.keys()).cloned().collect()
}

fn unknown_code(site: Site) -> Code {
    match site {
        Site::Put => Code::ObjectUploadUnconfirmed,
        Site::Load => Code::LoadOutcomeUnknown,
        Site::Publish => Code::PublicationOutcomeUnknown,
        _ => Code::TargetNotReachable,
    }
}

fn refused_code(site: Site) -> Code {
    match site {
        Site::Open | Site::Count | Site::Read => Code::SourceReadFailed,
        Site::Put | Site::Get | Site::Head | Site::Delete => Code::ObjectUploadFailed,
        Site::Evidence => Code::EvidenceWriteFailed,
        _ => Code::TargetLocked,
    }
}
