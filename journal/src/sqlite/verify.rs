//! Verifying a whole journal: its pages, and every run's chain, records and legality. It never stops at the first
//! damage.

use dpone_engine::codes::Code;
use dpone_engine::hex;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Run;
use dpone_engine::run::apply::begin;

use super::{Journal, RunRow};
use crate::failure::corrupt;
use crate::rule::{Hash, Head};
use crate::schema;

/// How many sentences about damaged pages are kept.
const MAX_PAGES: usize = 100;

/// One run, verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunCheck {
    /// The run.
    pub run: String,
    /// How many events are whole, from the first.
    pub events: u64,
    /// The hash of the last of them: two copies of a run are equal if it is.
    pub head: Option<Hash>,
    /// What is wrong with the event behind them; `None` if the log ends there, whole.
    pub broken: Option<Refusal>,
}

impl RunCheck {
    /// The hash in hexadecimal digits.
    pub fn head_hex(&self) -> Option<String> {
        self.head.as_ref().map(|hash| hex::encode(hash))
    }
}

/// A whole journal, verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is wrong with the file's pages and tables, in at most some hundred sentences.
    pub pages: Vec<String>,
    /// Every run, newest first, then events of runs that are not listed.
    pub runs: Vec<RunCheck>,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub fn whole(&self) -> bool {
        self.pages.is_empty() && self.runs.iter().all(|r| r.broken.is_none())
    }

    /// How many runs are not whole.
    pub fn broken(&self) -> usize {
        self.runs.iter().filter(|r| r.broken.is_some()).count()
    }
}

impl Journal {
    /// Verifies the pages and every run.
    ///
    /// # Errors
    /// If not even the list of runs can be read, or another process holds the journal's lock.
    pub fn verify(&self) -> Result<Verdict, Refusal> {
        // One state from the first page to the last run: a runner that takes over meanwhile is no damage.
        let _state = self.db.unchecked_transaction().map_err(|e| self.reader().fail(&e))?;
        let mut verdict = Verdict { pages: self.damaged_pages()?, runs: Vec::new() };
        verdict.pages.extend(self.changed_tables()?);
        for row in self.runs()? {
            verdict.runs.push(self.check(&row)?);
        }
        match self.reader().strays() {
            Ok(strays) => verdict.runs.extend(strays.into_iter().map(|run| {
                let broken = corrupt(&self.path, "events belong to a run that is not listed")
                    .at(format!("{}, run {run}", self.path.display()));
                RunCheck { run, events: 0, head: None, broken: Some(broken) }
            })),
            Err(damage) if is_damage(&damage) => verdict.pages.push(damage.message),
            Err(other) => return Err(other),
        }
        Ok(verdict)
    }

    fn damaged_pages(&self) -> Result<Vec<String>, Refusal> {
        let read = || {
            let mut statement = self.db.prepare(&format!("PRAGMA integrity_check({MAX_PAGES})"))?;
            let found = statement.query_map([], |r| r.get::<_, String>(0))?;
            found.filter(|line| line.as_ref().map_or(true, |line| line != "ok")).collect::<Result<Vec<_>, _>>()
        };
        match read().map_err(|e| self.reader().fail(&e)) {
            Err(damage) if is_damage(&damage) => Ok(vec![damage.message]),
            other => other,
        }
    }

    /// Tables, indexes and triggers that are not as they were made. What others added is none of the journal's.
    fn changed_tables(&self) -> Result<Vec<String>, Refusal> {
        let read = || {
            let mut statement = self.db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
            let found = statement.query_map([], |r| r.get::<_, String>(0))?;
            found.collect::<Result<Vec<_>, _>>()
        };
        match read().map_err(|e| self.reader().fail(&e)) {
            Ok(found) => Ok(schema::statements()
                .filter(|made| !found.iter().any(|f| f == made))
                .map(|made| format!("this is not there as it was made: {}", made.lines().next().unwrap_or_default()))
                .collect()),
            Err(damage) if is_damage(&damage) => Ok(vec![damage.message]),
            Err(other) => Err(other),
        }
    }

    fn check(&self, row: &RunRow) -> Result<RunCheck, Refusal> {
        let place = |seq: u64| format!("{}, run {}, event {seq}", self.path.display(), row.run);
        let mut last = Head::EMPTY;
        let mut planned_at = None;
        let mut folded: Option<Run> = None;
        let followed = self.reader().follow(&row.run, |entry, head| {
            let legal = match &mut folded {
                Some(run) => run.absorb(&entry.event),
                None => begin(&entry.event).map(|run| folded = Some(run)),
            };
            legal.map_err(|illegal| corrupt(&self.path, &illegal.to_string()).at(place(entry.seq)))?;
            last = head;
            planned_at.get_or_insert(entry.at);
            Ok(())
        });
        let broken = match followed {
            Ok(()) => against_list(row, folded.as_ref(), planned_at, last)
                .map(|what| corrupt(&self.path, what).at(format!("{}, run {}", self.path.display(), row.run))),
            Err(damage) if is_damage(&damage) => {
                let unplaced = damage.place.as_deref() == Some(&*self.path.display().to_string());
                Some(if unplaced { damage.at(place(last.seq + 1)) } else { damage })
            }
            Err(other) => return Err(other),
        };
        let head = (last.seq > 0).then_some(last.hash);
        Ok(RunCheck { run: row.run.clone(), events: last.seq, head, broken })
    }
}

/// What the list of runs says otherwise than the run's own log.
fn against_list(row: &RunRow, folded: Option<&Run>, planned_at: Option<u64>, last: Head) -> Option<&'static str> {
    let Some(run) = folded else { return Some("a run has no event") };
    let same = *run.id == *row.run
        && run.plan.manifest == row.manifest
        && run.plan.target == row.target
        && planned_at == Some(row.created);
    if !same {
        return Some("the list of runs says otherwise than the run's plan");
    }
    // It may be ahead: a runner can end between its epoch and its first event.
    (last.epoch > row.epoch || run.epoch > row.epoch).then_some("the list of runs is behind the run's epoch")
}

fn is_damage(refusal: &Refusal) -> bool {
    matches!(refusal.code, Code::JournalCorrupt | Code::JournalNewer)
}
