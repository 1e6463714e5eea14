//! What is durable of each file, and what was written since.

use std::collections::BTreeMap;

use crate::fault::Left;
use crate::rng::Rng;

/// What is written in one piece, or not at all.
const SECTOR: usize = 512;

#[derive(Clone, Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate { size: usize },
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Change::Write { at, bytes } => {
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*at..end].copy_from_slice(bytes);
            }
            Change::Truncate { size } => content.resize(*size, 0),
        }
    }

    /// The sectors of a write of which `keep` says so.
    fn apply_torn(&self, content: &mut Vec<u8>, mut keep: impl FnMut() -> bool) {
        match self {
            Change::Write { at, bytes } => {
                for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                    if keep() {
                        Change::Write { at: at + number * SECTOR, bytes: sector.to_vec() }.apply(content);
                    }
                }
            }
            Change::Truncate { .. } => {
                if keep() {
                    self.apply(content);
                }
            }
        }
    }
}

#[derive(Debug, Default)]
struct Content {
    durable: Vec<u8>,
    since: Vec<Change>,
}

impl Content {
    fn sync(&mut self) {
        for change in self.since.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    fn after_a_cut(mut self, left: Left, rng: &mut Rng) -> Vec<u8> {
        let count = self.since.len();
        match left {
            Left::Nothing => {}
            Left::Everything => self.sync(),
            Left::UpToSomeMoment => {
                let whole = rng.below(count as u64 + 1) as usize;
                for change in &self.since[..whole] {
                    change.apply(&mut self.durable);
                }
                if let Some(torn) = self.since.get(whole) {
                    let mut some = rng.below(9);
                    torn.apply_torn(&mut self.durable, || {
                        some = some.saturating_sub(1);
                        some > 0
                    });
                }
            }
            Left::Any => {
                for change in &self.since {
                    // Whole, gone, or in parts.
                    match rng.below(3) {
                        0 => change.apply(&mut self.durable),
                        1 => {}
                        _ => change.apply_torn(&mut self.durable, || rng.odds(1, 2)),
                    }
                }
            }
        }
        self.durable
    }
}

/// A name in the folder.
#[derive(Debug, Default)]
struct Name {
    now: Option<Content>,
    /// What a cut may find under the name instead, until the folder is synced.
    before: Option<Option<Vec<u8>>>,
}

/// The files of one folder.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<String, Name>);

impl Files {
    /// A file is opened that is made if it is not there.
    pub(super) fn opened(&mut self, name: &str) {
        let entry = self.0.entry(name.to_owned()).or_default();
        if entry.now.is_none() {
            entry.now = Some(Content::default());
            entry.before.get_or_insert(None);
        }
    }

    fn change(&mut self, name: &str, change: Change) {
        self.opened(name);
        if let Some(content) = self.0.get_mut(name).and_then(|n| n.now.as_mut()) {
            content.since.push(change);
        }
    }

    pub(super) fn wrote(&mut self, name: &str, at: usize, bytes: &[u8]) {
        self.change(name, Change::Write { at, bytes: bytes.to_vec() });
    }

    pub(super) fn truncated(&mut self, name: &str, size: usize) {
        self.change(name, Change::Truncate { size });
    }

    pub(super) fn synced(&mut self, name: &str) {
        if let Some(content) = self.0.get_mut(name).and_then(|n| n.now.as_mut()) {
            content.sync();
        }
    }

    /// The folder is synced: its names are what they are now.
    pub(super) fn folder_synced(&mut self) {
        self.0.values_mut().for_each(|name| name.before = None);
    }

    pub(super) fn deleted(&mut self, name: &str, left: Left, rng: &mut Rng) {
        let Some(entry) = self.0.get_mut(name) else { return };
        if let Some(content) = entry.now.take() {
            let former = content.after_a_cut(left, rng);
            entry.before.get_or_insert(Some(former));
        }
    }

    /// What every name holds now, as its readers see it.
    pub(super) fn cached(&self) -> Vec<(String, Option<Vec<u8>>)> {
        let now = |name: &Name| {
            let content = name.now.as_ref()?;
            let mut bytes = content.durable.clone();
            content.since.iter().for_each(|change| change.apply(&mut bytes));
            Some(bytes)
        };
        self.0.iter().map(|(name, entry)| (name.clone(), now(entry))).collect()
    }

    /// What every name holds after a cut, which is durable then; `None` where nothing is there.
    pub(super) fn after_a_cut(&mut self, left: Left, rng: &mut Rng) -> Vec<(String, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        for (name, entry) in std::mem::take(&mut self.0) {
            let now = entry.now.map(|content| content.after_a_cut(left, rng));
            let back = match left {
                Left::Nothing => true,
                Left::Everything => false,
                Left::UpToSomeMoment | Left::Any => rng.odds(1, 2),
            };
            let content = match entry.before {
                Some(before) if back => before,
                _ => now,
            };
            if let Some(durable) = &content {
                let content = Content { durable: durable.clone(), since: Vec::new() };
                self.0.insert(name.clone(), Name { now: Some(content), before: None });
            }
            found.push((name, content));
        }
        found
    }
}
