//! What a journal says, as a runner that starts now would find it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dpone_engine::driver::Entry;
use dpone_engine::run::Event;
use dpone_engine::run::effect::EffectKind;
use dpone_journal::sqlite::Journal;

use crate::scratch::scratch;

/// The bytes of a journal and of its `-wal` at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    db: Vec<u8>,
    wal: Vec<u8>,
}

fn wal(journal: &Path) -> PathBuf {
    beside(journal, "-wal")
}

fn beside(journal: &Path, suffix: &str) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

impl Snapshot {
    /// Of a journal whose writer is held, so that both files are of one moment.
    pub fn of(journal: &Path) -> Self {
        let read = |path: &Path| fs::read(path).unwrap_or_default();
        Self { db: read(journal), wal: read(&wal(journal)) }
    }

    /// Puts it in place of a journal that nobody has open.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn put_back(&self, journal: &Path) {
        fs::write(journal, &self.db).expect("the journal");
        fs::write(wal(journal), &self.wal).expect("its -wal");
        let _ = fs::remove_file(beside(journal, "-shm"));
    }

    /// The facts of its newest run, and how many runs there are. A SIGKILL at that moment leaves exactly these, those of
    /// the transaction that is just being committed among them.
    pub fn facts(&self) -> (usize, Vec<Entry>) {
        let folder = scratch();
        let copy = folder.path().join("journal.db");
        self.put_back(&copy);
        let Ok(journal) = Journal::open_existing(&copy) else { return (0, Vec::new()) };
        let runs = journal.runs().expect("the journal is whole");
        let entries = runs.first().map(|run| journal.entries(&run.run).expect("the journal is whole"));
        (runs.len(), entries.unwrap_or_default())
    }
}

/// Where a process can be stopped between two writes of its journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The effect is announced and not begun.
    Announced(EffectKind),
    /// The effect has happened and the journal does not say so.
    Done(EffectKind),
    /// The journal says that the effect happened; nothing was done because of it.
    Recorded(EffectKind),
    /// Any other fact, by its kind and, of a change of state, by the state.
    Fact(String),
}

/// The steps that a run's facts consist of, in order, one list per fact.
pub fn steps(entries: &[Entry]) -> Vec<Vec<Step>> {
    let mut kinds = BTreeMap::new();
    let step = |entry: &Entry| match &entry.event {
        Event::Intended { key, effect } => {
            kinds.insert(*key, effect.kind());
            vec![Step::Announced(effect.kind())]
        }
        Event::Confirmed { key, receipt } => {
            let kind = kinds.get(key).copied().unwrap_or(receipt.kind());
            vec![Step::Done(kind), Step::Recorded(kind)]
        }
        Event::Moved { to } => vec![Step::Fact(format!("Moved to {}", to.name()))],
        other => vec![Step::Fact(format!("{:?}", other.kind()))],
    };
    entries.iter().map(step).collect()
}
