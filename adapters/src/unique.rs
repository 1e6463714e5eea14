//! Whether any value occurs twice, exactly and in bounded memory: sorted runs in files of the work folder, merged.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek as _};
use std::path::{Path, PathBuf};

use dpone_engine::codes::Code;
use dpone_engine::run::Why;

use crate::durable::{Failure, classify};

/// The least buffer that sorting makes sense with.
const LEAST: usize = 64 * 1024;

/// The most runs that are merged at a time; each has a read buffer.
const FAN_IN: usize = 64;

/// The largest and the least read buffer of a run.
const READ: (usize, usize) = (64 * 1024, 4 * 1024);

/// A set of sorted runs, one buffer in memory. Give every key once; then ask.
///
/// Beyond its bound it takes a few times the longest key, which whoever adds that key must have room for.
#[derive(Debug)]
pub(crate) struct Keys {
    folder: PathBuf,
    /// Bytes of keys at which a run is written: a growing buffer takes up to three times what is in it.
    bound: usize,
    /// The longest key.
    longest: usize,
    /// Keys one after another.
    arena: Vec<u8>,
    /// Where each begins and ends.
    spans: Vec<(usize, usize)>,
    runs: Vec<File>,
}

impl Keys {
    /// Keys kept in about `bound` bytes of memory; what is more goes to unnamed files of `folder`.
    pub(crate) fn new(folder: &Path, bound: u64) -> Self {
        let bound = (usize::try_from(bound).unwrap_or(usize::MAX) / 4).max(LEAST);
        Self { folder: folder.to_path_buf(), bound, longest: 0, arena: Vec::new(), spans: Vec::new(), runs: Vec::new() }
    }

    /// Adds the key that `write` appends, unless it says that there is none.
    ///
    /// # Errors
    /// If a run cannot be written.
    pub(crate) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> io::Result<()> {
        let begin = self.arena.len();
        if write(&mut self.arena) {
            self.spans.push((begin, self.arena.len()));
            self.longest = self.longest.max(self.arena.len() - begin);
        } else {
            self.arena.truncate(begin);
        }
        if self.arena.len() + self.spans.len() * size_of::<(usize, usize)>() >= self.bound {
            self.spill()
        } else {
            Ok(())
        }
    }

    /// Writes what is in memory as a sorted run.
    fn write_run(&mut self) -> io::Result<()> {
        self.sort();
        let mut run = BufWriter::new(temporary(&self.folder)?);
        for &(begin, end) in &self.spans {
            write_key(&mut run, &self.arena[begin..end])?;
        }
        self.runs.push(rewound(run)?);
        self.arena.clear();
        self.spans.clear();
        Ok(())
    }

    /// Writes what is in memory, and keeps the number of open files small.
    fn spill(&mut self) -> io::Result<()> {
        self.write_run()?;
        if self.runs.len() >= FAN_IN {
            self.runs = merged(std::mem::take(&mut self.runs), 1, &self.folder, self.fan_in())?;
        }
        Ok(())
    }

    /// How many runs are merged at a time, and with what read buffers, within the bound.
    fn fan_in(&self) -> (usize, usize) {
        let read = (self.bound / FAN_IN).clamp(READ.1, READ.0);
        ((self.bound / (read + self.longest)).clamp(2, FAN_IN), read)
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        self.spans.sort_unstable_by(|a, b| arena[a.0..a.1].cmp(&arena[b.0..b.1]));
    }
}

/// Whether any key occurs twice among all of these.
///
/// # Errors
/// If runs cannot be written or read back.
pub(crate) fn any_twice(all: Vec<Keys>) -> io::Result<bool> {
    let mut all: Vec<Keys> = all.into_iter().filter(|k| !k.spans.is_empty() || !k.runs.is_empty()).collect();
    if let [only] = all.as_mut_slice()
        && only.runs.is_empty()
    {
        only.sort();
        let key = |span: &(usize, usize)| &only.arena[span.0..span.1];
        return Ok(only.spans.windows(2).any(|w| key(&w[0]) == key(&w[1])));
    }
    let Some(folder) = all.first().map(|k| k.folder.clone()) else { return Ok(false) };
    let mut runs = Vec::new();
    let mut fan_in = (FAN_IN, READ.0);
    for mut keys in all {
        keys.spill()?;
        let (runs_at_a_time, read) = keys.fan_in();
        fan_in = (fan_in.0.min(runs_at_a_time), fan_in.1.min(read));
        runs.append(&mut keys.runs);
    }
    twice_in(runs, &folder, fan_in)
}

/// What it means that keys could not be sorted. The runs are in the work folder, not in the target.
pub(crate) fn spill_failed(error: &io::Error) -> Why {
    let full = classify(error) == Failure::NoRoom;
    let code = if full { Code::SpoolDiskFull } else { Code::LoadFailed };
    Why::fatal(code, format!("sorting keys in the work folder: {error}"))
}

fn twice_in(runs: Vec<File>, folder: &Path, fan_in: (usize, usize)) -> io::Result<bool> {
    let runs = merged(runs, fan_in.0, folder, fan_in)?;
    let mut last: Option<Vec<u8>> = None;
    let mut twice = false;
    merge(runs, fan_in.1, |key| {
        twice = last.as_deref() == Some(key);
        let kept = last.get_or_insert_default();
        kept.clear();
        kept.extend_from_slice(key);
        Ok(!twice)
    })?;
    Ok(twice)
}

/// The runs as at most that many, `fan_in.0` merged at a time, the oldest first.
fn merged(runs: Vec<File>, most: usize, folder: &Path, fan_in: (usize, usize)) -> io::Result<Vec<File>> {
    let mut runs = VecDeque::from(runs);
    while runs.len() > most {
        let mut to = BufWriter::new(temporary(folder)?);
        let group = runs.drain(..fan_in.0.min(runs.len())).collect();
        merge(group, fan_in.1, |key| write_key(&mut to, key).map(|()| true))?;
        runs.push_back(rewound(to)?);
    }
    Ok(runs.into())
}

/// Gives every key of the runs in order until the receiver has enough.
fn merge(runs: Vec<File>, read: usize, mut give: impl FnMut(&[u8]) -> io::Result<bool>) -> io::Result<()> {
    let mut readers: Vec<BufReader<File>> = runs.into_iter().map(|f| BufReader::with_capacity(read, f)).collect();
    let mut heads = BinaryHeap::new();
    for (at, reader) in readers.iter_mut().enumerate() {
        heads.extend(read_key(reader)?.map(|key| Reverse((key, at))));
    }
    while let Some(Reverse((key, at))) = heads.pop() {
        if !give(&key)? {
            return Ok(());
        }
        heads.extend(read_key(&mut readers[at])?.map(|key| Reverse((key, at))));
    }
    Ok(())
}

/// A file without a name, created so where the file system can: it is gone with the process, however that ends.
fn temporary(folder: &Path) -> io::Result<File> {
    crate::durable::create_dirs(folder)?;
    tempfile::tempfile_in(folder)
}

fn rewound(run: BufWriter<File>) -> io::Result<File> {
    let mut file = run.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
}

fn write_key(to: &mut impl io::Write, key: &[u8]) -> io::Result<()> {
    to.write_all(&(key.len() as u64).to_le_bytes())?;
    to.write_all(key)
}

fn read_key(from: &mut impl io::BufRead) -> io::Result<Option<Vec<u8>>> {
    if from.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    // The run is this process's own, unnamed file: its lengths are the ones that were written.
    let mut key = vec![0; usize::try_from(u64::from_le_bytes(length)).map_err(io::Error::other)?];
    from.read_exact(&mut key)?;
    Ok(Some(key))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    /// `count` different keys in an order that is not theirs, over `parts`, and `extra` at the end.
    fn twice(count: u64, parts: usize, width: usize, extra: Option<u64>) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let mut all: Vec<Keys> = (0..parts).map(|_| Keys::new(dir.path(), 0)).collect();
        let key = |i: u64| {
            let mut key = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().to_vec();
            key.resize(width, 7);
            key
        };
        for (at, i) in (0..count).chain(extra).enumerate() {
            all[at % parts]
                .add(|to| {
                    to.extend(key(i));
                    true
                })
                .unwrap();
            all[at % parts].add(|_| false).unwrap();
        }
        let found = any_twice(all).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        found
    }

    #[test]
    fn one_value_twice_is_found_wherever_it_is() {
        for (count, parts, width) in [(0, 1, 8), (1, 1, 8), (100, 1, 8), (100, 3, 8), (40_000, 1, 9), (40_000, 3, 40)] {
            assert!(!twice(count, parts, width, None), "{count} {parts}");
            if count > 0 {
                assert!(twice(count, parts, width, Some(0)) && twice(count, parts, width, Some(count - 1)));
            }
        }
        // More runs than are merged at a time.
        assert!(!twice(160_000, 2, 40, None));
        assert!(twice(160_000, 2, 40, Some(123_456)));
    }

    #[test]
    fn empty_and_absent_keys_differ() {
        let dir = tempfile::tempdir().unwrap();
        let check = |given: &[Option<&[u8]>]| {
            let mut keys = Keys::new(dir.path(), 0);
            for key in given {
                keys.add(|to| key.map(|k| to.extend(k)).is_some()).unwrap();
            }
            any_twice(vec![keys]).unwrap()
        };
        assert!(!check(&[None, None, Some(b""), Some(b"a"), Some(b"\0")]));
        assert!(check(&[Some(b""), None, Some(b"")]));
    }
}
