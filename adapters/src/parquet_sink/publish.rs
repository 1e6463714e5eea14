//! The one publication: creating the next version's manifest.
//!
//! The next version's name follows from the base that the plan saw. A run has one base, so it can create one name only,
//! and that name is created once: however often a publication is sent, by whichever try, the run is published once.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use bytes::Bytes;
use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::ports::{Claimant, PublishOrder};
use dpone_engine::run::{Outcome, Receipt, Seen, Why};

use super::ParquetSink;
use super::claim::lock;
use super::failure::why;
use super::load::load_folder;
use super::pointer::{Pointer, books, pointer_path, read_pointer, version_of};
use crate::durable;

/// What stands under the name of the version that a publication is to create.
pub(super) enum Stands {
    /// Nothing.
    Nothing,
    /// A version that this run made.
    Ours(Box<Pointer>),
    /// A version that another run made.
    Rival,
    /// Something that is no manifest.
    Foreign,
}

impl ParquetSink {
    pub(super) fn publish_version(&self, order: &PublishOrder) -> Outcome {
        let refused = Outcome::NotDone;
        let lock = match lock(&self.root) {
            Ok(lock) => lock,
            Err(why) => return refused(why),
        };
        let claimant = &order.staged.claimant;
        match self.stands(&order.base, claimant) {
            Ok(Stands::Nothing) => {}
            Ok(Stands::Ours(found)) => return self.published(order, &found),
            Ok(Stands::Rival | Stands::Foreign) => return refused(base_changed()),
            Err(e) => return refused(why(Code::PublicationFailed, "the next version's name", &e)),
        }
        let pointer = match lock.held(claimant).and_then(|()| self.next_version(order)) {
            Ok(pointer) => pointer,
            Err(why) => return refused(why),
        };
        let outcome = match self.create(order, &pointer) {
            Ok(()) => self.published(order, &pointer),
            Err(Uncreated::Taken) => match self.stands(&order.base, claimant) {
                Ok(Stands::Ours(found)) => self.published(order, &found),
                Ok(Stands::Rival | Stands::Foreign) => refused(base_changed()),
                Ok(Stands::Nothing) | Err(_) => {
                    Outcome::Unknown(doubt("the version's name was taken and is not readable"))
                }
            },
            Err(Uncreated::Never(e)) => refused(why(Code::PublicationFailed, "the next version's manifest", &e)),
            Err(Uncreated::Doubtful(e)) => Outcome::Unknown(doubt(&format!("the manifest's folder: {e}"))),
        };
        drop(lock);
        outcome
    }

    /// What stands where a publication on that base belongs.
    pub(super) fn stands(&self, base: &str, claimant: &Claimant) -> io::Result<Stands> {
        let Some(version) = version_of(base).and_then(|v| v.checked_add(1)) else { return Ok(Stands::Foreign) };
        match read_pointer(&self.root, version) {
            Ok(None) => Ok(Stands::Nothing),
            Ok(Some(found)) if found.run == claimant.run && found.journal == claimant.journal => {
                Ok(Stands::Ours(Box::new(found)))
            }
            Ok(Some(_)) => Ok(Stands::Rival),
            Err(e) if e.kind() == ErrorKind::InvalidData => Ok(Stands::Foreign),
            Err(e) => Err(e),
        }
    }

    /// Whether a later version stands above ours.
    pub(super) fn superseded(&self, ours: &Pointer) -> io::Result<bool> {
        pointer_path(&self.root, ours.version + 1).try_exists()
    }

    /// The receipt of a version that has its name, with the loads' folders gone: the manifest says all that they said.
    pub(super) fn published(&self, order: &PublishOrder, found: &Pointer) -> Outcome {
        // A process may have been killed between giving the name and syncing it. Cleanup removes the version before this
        // one, so this one must outlive a power failure first.
        if let Err(e) = durable::sync_dir(&books(&self.root)) {
            return Outcome::Unknown(doubt(&format!("the manifest's folder: {e}")));
        }
        for unit in &order.staged.units {
            // Only bookkeeping is left in them; what stays is found by nobody and hurts nobody.
            let _ = durable::remove_tree(&load_folder(&self.root, &unit.load));
        }
        Outcome::Done(Receipt::Published { identity: found.identity(), rows: found.rows_published })
    }

    /// The next version, from the base and the loads' receipts.
    fn next_version(&self, order: &PublishOrder) -> Result<Pointer, Why> {
        let version = version_of(&order.base).ok_or_else(base_changed)?;
        let base = match read_pointer(&self.root, version) {
            Ok(base) => base,
            Err(e) => return Err(why(Code::PublicationFailed, "the present version's manifest", &e)),
        };
        let unchanged = base.as_ref().map_or(String::new(), Pointer::identity) == order.base;
        if !unchanged {
            return Err(base_changed());
        }
        let claimant = &order.staged.claimant;
        let mut next = Pointer::new(version + 1, &order.publication, claimant, &order.base, &self.schema);
        next.fingerprint.clone_from(&self.fingerprint);
        next.strategy = self.mode.as_str().to_owned();
        match (self.mode, base) {
            (StrategyMode::FullRefresh, _) | (StrategyMode::Append, None) => {}
            (StrategyMode::Append, Some(base)) => {
                // A version never lists what is not there.
                if let Some(text) = base.damage(&self.root) {
                    return Err(Why::fatal(Code::PublicationFailed, text));
                }
                next.rows = base.rows;
                next.files = base.files;
                next.schema = base.schema;
            }
            (StrategyMode::Merge | StrategyMode::PartitionReplace, _) => {
                return Err(Why::fatal(Code::StrategyUnsupported, "the parquet sink refreshes or appends"));
            }
        }
        for unit in &order.staged.units {
            let receipt = self.receipt(&unit.load, &unit.staging)?;
            if receipt.rows != unit.rows {
                let detail =
                    format!("range {}: {} rows were confirmed and {} are held", unit.unit, unit.rows, receipt.rows);
                return Err(Why::fatal(Code::LoadCountMismatch, detail));
            }
            for file in &receipt.files {
                match std::fs::metadata(self.root.join(&file.path)) {
                    Ok(meta) if meta.is_file() && meta.len() == file.bytes => {}
                    Ok(_) => return Err(Why::fatal(Code::PublicationFailed, "a staged file has another size")),
                    Err(e) => return Err(why(Code::PublicationFailed, "a staged file", &e)),
                }
            }
            next.rows += receipt.rows;
            next.rows_published += receipt.rows;
            next.files.extend(receipt.files);
        }
        if next.files.is_empty() {
            next.files.push(self.empty_file(order)?);
        }
        Ok(next)
    }

    /// Writes the manifest beside the staged files, synced, and links it to its name unless that is taken.
    fn create(&self, order: &PublishOrder, pointer: &Pointer) -> Result<(), Uncreated> {
        let draft = self.draft(order);
        let text = serde_json::to_vec_pretty(pointer).map_err(|e| Uncreated::Never(e.into()))?;
        durable::remove_file(&draft).map_err(Uncreated::Never)?;
        durable::write_new(&draft, &[Bytes::from(text)]).map_err(Uncreated::Never)?;
        let name = pointer_path(&self.root, pointer.version);
        let Err(e) = durable::publish_new(&draft, &name) else { return Ok(()) };
        // The draft's name is this publication's own; a probe removes what is left of it.
        let _ = durable::remove_file(&draft);
        match (e.kind(), name.try_exists()) {
            (ErrorKind::AlreadyExists, _) => Err(Uncreated::Taken),
            (_, Ok(false)) => Err(Uncreated::Never(e)),
            (_, Ok(true) | Err(_)) => Err(Uncreated::Doubtful(e)),
        }
    }

    /// Where a publication's manifest is written before it has its name.
    fn draft(&self, order: &PublishOrder) -> PathBuf {
        let staging = order.staged.staging.first().map_or(self.root.clone(), |s| self.root.join(s));
        staging.join(format!(".{}.json", order.publication))
    }

    /// How a publication in doubt stands, with its receipt if it happened. It was fenced before, so its draft is of no use
    /// to anyone any more and is removed: the folder it is in may be a part of the dataset by now.
    pub(super) fn sight_publication(&self, order: &PublishOrder) -> dpone_engine::ports::Sighting {
        use dpone_engine::ports::Sighting;
        if durable::remove_file(&self.draft(order)).is_err() {
            return Sighting::of(Seen::CannotTell);
        }
        let ours = match self.stands(&order.base, &order.staged.claimant) {
            Ok(Stands::Ours(found)) => found,
            Ok(Stands::Nothing) => return Sighting::of(Seen::Nothing),
            Ok(Stands::Rival) => return Sighting::of(Seen::BaseChanged),
            Ok(Stands::Foreign) => return Sighting::of(Seen::Foreign),
            Err(_) => return Sighting::of(Seen::CannotTell),
        };
        let Outcome::Done(receipt) = self.published(order, &ours) else { return Sighting::of(Seen::CannotTell) };
        match self.superseded(&ours) {
            Ok(true) => Sighting { seen: Seen::Superseded, receipt: Some(receipt) },
            Ok(false) => Sighting::ours(receipt),
            Err(_) => Sighting::of(Seen::CannotTell),
        }
    }
}

/// Why a manifest was not created.
enum Uncreated {
    /// The name is taken.
    Taken,
    /// It does not exist and will not.
    Never(io::Error),
    /// It exists, or cannot be looked at, and may not outlive a power failure.
    Doubtful(io::Error),
}

fn base_changed() -> Why {
    Why::fatal(Code::PublicationBaseChanged, "another run published a version since this run was planned")
}

fn doubt(detail: &str) -> Why {
    Why::fatal(Code::PublicationOutcomeUnknown, detail)
}
