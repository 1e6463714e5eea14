//! Reading: runs, and their events one by one against the chain. Works inside a transaction as well as outside.

use std::path::Path;

use dpone_engine::codes::Code;
use dpone_engine::driver::Entry;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::{Event, Run, State, recover};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::RunRow;
use crate::failure::{corrupt, refusal, unreadable};
use crate::record::{Record, decode};
use crate::rule::{self, Head, Stored};

const EVENT: &str = "seq, attempt, epoch, at, kind, version, payload, previous, hash";
const RUN: &str = "run_id, manifest, target, created, epoch";

/// A journal as far as it is read.
pub(super) struct Reader<'a> {
    pub(super) db: &'a Connection,
    pub(super) path: &'a Path,
}

impl Reader<'_> {
    pub(super) fn runs(&self) -> Result<Vec<RunRow>, Refusal> {
        self.rows("ORDER BY rowid DESC", [])
    }

    pub(super) fn run(&self, run: &str) -> Result<RunRow, Refusal> {
        self.rows("WHERE run_id = ?1", [run])?.into_iter().next().ok_or_else(|| {
            Refusal::new(Code::RunNotFound, format!("the journal has no run {run}"))
                .at(self.path.display().to_string())
                .fix("List the runs with `dpone runs`.")
        })
    }

    pub(super) fn newest_of(&self, manifest: &str) -> Result<Option<RunRow>, Refusal> {
        Ok(self.rows("WHERE manifest = ?1 ORDER BY rowid DESC LIMIT 1", [manifest])?.into_iter().next())
    }

    /// The newest run is folded whatever its end says: the next one is planned over what it left in the target.
    pub(super) fn unsettled_on(&self, target: &str) -> Result<Vec<RunRow>, Refusal> {
        let mut unsettled = Vec::new();
        for (age, row) in self.rows("WHERE target = ?1 ORDER BY rowid DESC", [target])?.into_iter().enumerate() {
            let skipped = age > 0 && self.ends_settled(&row.run)?;
            if !skipped && !self.fold(&row.run)?.0.settled() {
                unsettled.push(row);
            }
        }
        Ok(unsettled)
    }

    /// Whether the last event alone, if it is whole, says that nothing is left to do. It may be false for a settled run:
    /// only the fold knows then.
    fn ends_settled(&self, run: &str) -> Result<bool, Refusal> {
        let sql = format!("SELECT {EVENT} FROM events WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1");
        let last = self
            .db
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([run], stored).optional())
            .map_err(|e| self.fail(&e))?;
        let Some(last) = last.filter(|last| last.hash == rule::hash(run, last)) else { return Ok(false) };
        Ok(matches!(decode(&last.record), Ok(Event::Closed | Event::Moved { to: State::CleanupComplete })))
    }

    /// Hands over a run's events one by one, in order.
    pub(super) fn each(&self, run: &str, mut take: impl FnMut(Stored) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let sql = format!("SELECT {EVENT} FROM events WHERE run_id = ?1 ORDER BY seq");
        let mut statement = self.db.prepare_cached(&sql).map_err(|e| self.fail(&e))?;
        let mut rows = statement.query([run]).map_err(|e| self.fail(&e))?;
        while let Some(row) = rows.next().map_err(|e| self.fail(&e))? {
            take(stored(row).map_err(|e| self.fail(&e))?)?;
        }
        Ok(())
    }

    /// Hands over a run's facts one by one, each once it is checked against the chain; answers where the log ends.
    pub(super) fn follow(
        &self,
        run: &str,
        mut take: impl FnMut(Entry, Head) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut head = Head::EMPTY;
        self.each(run, |stored| {
            let at = || format!("{}, run {run}, event {}", self.path.display(), head.seq + 1);
            let next = rule::follow(run, head, &stored).map_err(|e| corrupt(self.path, &e.to_string()).at(at()))?;
            let event = decode(&stored.record).map_err(|e| unreadable(&e).at(at()))?;
            head = next;
            take(Entry { seq: stored.seq, at: stored.at, event }, head)
        })
    }

    pub(super) fn entries(&self, run: &str) -> Result<Vec<Entry>, Refusal> {
        self.run(run)?;
        let mut entries = Vec::new();
        self.follow(run, |entry, _| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(entries)
    }

    pub(super) fn fold(&self, run: &str) -> Result<(Run, Vec<Entry>), Refusal> {
        let entries = self.entries(run)?;
        let folded = recover(entries.iter().map(|e| &e.event)).map_err(|illegal| {
            corrupt(self.path, &illegal.to_string()).at(format!(
                "{}, run {run}, event {}",
                self.path.display(),
                illegal.seq
            ))
        })?;
        Ok((folded, entries))
    }

    /// Where a run's log ends, and which epoch may append.
    pub(super) fn head(&self, run: &str) -> rusqlite::Result<Head> {
        let epoch =
            self.db.prepare_cached("SELECT epoch FROM runs WHERE run_id = ?1")?.query_row([run], |r| r.get(0))?;
        let last = self
            .db
            .prepare_cached("SELECT seq, hash, attempt FROM events WHERE run_id = ?1 ORDER BY seq DESC LIMIT 1")?
            .query_row([run], |r| Ok(Head { seq: r.get(0)?, hash: r.get(1)?, attempt: r.get(2)?, epoch }))
            .optional()?;
        Ok(last.unwrap_or(Head { epoch, ..Head::EMPTY }))
    }

    /// Names in `events` that `runs` does not have.
    pub(super) fn strays(&self) -> Result<Vec<String>, Refusal> {
        let read = || {
            let mut statement = self.db.prepare(
                "SELECT DISTINCT run_id FROM events WHERE run_id NOT IN (SELECT run_id FROM runs) LIMIT 100",
            )?;
            let names = statement.query_map([], |r| r.get(0))?;
            names.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|e| self.fail(&e))
    }

    fn rows<P: rusqlite::Params>(&self, which: &str, params: P) -> Result<Vec<RunRow>, Refusal> {
        let read = || {
            let mut statement = self.db.prepare_cached(&format!("SELECT {RUN} FROM runs {which}"))?;
            let rows = statement.query_map(params, |r| {
                Ok(RunRow {
                    run: r.get(0)?,
                    manifest: r.get(1)?,
                    target: r.get(2)?,
                    created: r.get(3)?,
                    epoch: r.get(4)?,
                })
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|e| self.fail(&e))
    }

    pub(super) fn fail(&self, error: &rusqlite::Error) -> Refusal {
        refusal(self.path, error)
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        seq: row.get(0)?,
        attempt: row.get(1)?,
        epoch: row.get(2)?,
        at: row.get(3)?,
        record: Record { kind: row.get(4)?, version: row.get(5)?, payload: row.get(6)? },
        previous: row.get(7)?,
        hash: row.get(8)?,
    })
}

/// Stores events that the append rule made.
pub(super) fn insert(db: &Connection, run: &str, stored: &[Stored]) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(&format!(
        "INSERT INTO events (run_id, {EVENT}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
    ))?;
    for e in stored {
        let Record { kind, version, payload } = &e.record;
        statement.execute(params![run, e.seq, e.attempt, e.epoch, e.at, kind, version, payload, e.previous, e.hash])?;
    }
    Ok(())
}
