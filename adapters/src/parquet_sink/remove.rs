//! Removing what a run owns, by journalled name.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::run::effect::OwnedKind;
use dpone_engine::run::{Outcome, Receipt, Why};

use super::ParquetSink;
use super::failure::why;
use super::load::{load_folder, read_receipt};
use super::pointer::{newest_pointer, read_pointer, version_of};
use crate::durable;
use crate::object_store::valid_key;

impl ParquetSink {
    pub(super) fn remove(&self, kind: OwnedKind, name: &str) -> Outcome {
        let removed = match kind {
            OwnedKind::Staging if plain(name) => self.remove_staging(name),
            OwnedKind::Load if plain(name) => self.remove_load(name),
            OwnedKind::Superseded => self.remove_superseded(name),
            OwnedKind::Staging | OwnedKind::Load | OwnedKind::Object => {
                return Outcome::NotDone(Why::fatal(Code::CleanupFailed, "the parquet sink owns no such name"));
            }
        };
        match removed {
            Ok(()) => Outcome::Done(Receipt::Dropped),
            Err(e) => Outcome::NotDone(why(Code::CleanupFailed, "something of this run in the dataset", &e)),
        }
    }

    fn remove_staging(&self, staging: &str) -> io::Result<()> {
        // The machine asks for this only of a staging folder that was not published. It is looked at once more, because
        // nothing brings data files back.
        let prefix = format!("{staging}/");
        let listed = newest_pointer(&self.root)?.is_some_and(|p| p.files.iter().any(|f| f.path.starts_with(&prefix)));
        if listed {
            return Err(io::Error::other("the staging folder is part of the dataset"));
        }
        durable::remove_tree(&self.root.join(staging))
    }

    fn remove_load(&self, load: &str) -> io::Result<()> {
        let receipt = match read_receipt(&self.root, load) {
            Err(e) if e.kind() == io::ErrorKind::InvalidData => None,
            other => other?,
        };
        if let Some(receipt) = receipt.filter(super::load::LoadReceipt::is_sound) {
            let listed: BTreeSet<String> =
                newest_pointer(&self.root)?.into_iter().flat_map(|p| p.files).map(|f| f.path).collect();
            for file in receipt.files.iter().filter(|f| !listed.contains(&f.path)) {
                durable::remove_file(&self.root.join(&file.path))?;
            }
        }
        durable::remove_tree(&load_folder(&self.root, load))
    }

    /// Removes the files of a former version that the version after it does not list. Later versions build on that one
    /// and never take a file back.
    fn remove_superseded(&self, identity: &str) -> io::Result<()> {
        let Some(version) = version_of(identity).filter(|v| *v > 0) else { return Ok(()) };
        let Some(former) = read_pointer(&self.root, version)?.filter(|p| p.identity() == identity) else {
            return Ok(());
        };
        let Some(next) = read_pointer(&self.root, version + 1)? else {
            return Err(io::Error::other("that version is the dataset's present content"));
        };
        let kept: BTreeSet<&str> = next.files.iter().map(|f| f.path.as_str()).collect();
        let mut folders = BTreeSet::new();
        for file in former.files.iter().filter(|f| !kept.contains(f.path.as_str())) {
            durable::remove_file(&self.root.join(&file.path))?;
            folders.extend(Path::new(&file.path).parent().filter(|p| !p.as_os_str().is_empty()));
        }
        for folder in folders {
            // A folder that still holds something stays.
            let _ = std::fs::remove_dir(self.root.join(folder));
        }
        Ok(())
    }
}

/// An owned name is one part of a path.
fn plain(name: &str) -> bool {
    valid_key(name) && !name.contains('/') && !name.starts_with('_')
}
