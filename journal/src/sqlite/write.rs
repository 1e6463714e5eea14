//! Writing: a new run, a new epoch, the events of a runner. Each is one transaction that checks what it rests on.

use dpone_engine::codes::Code;
use dpone_engine::ports::AppendError;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::Event;
use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::Journal;
use super::read::{Reader, insert};
use crate::failure::{append_error, refusal};
use crate::rule::{self, Head};

impl Journal {
    /// Writes a new run's plan down, unless its target has a run that is not settled.
    ///
    /// # Errors
    /// `run_unsettled` naming that run; `option_conflict` if the id is taken; a `journal_*` code.
    pub fn create_run(&mut self, planned: &Event, at: u64) -> Result<(), Refusal> {
        let Event::Planned { run, plan } = planned else {
            return Err(Refusal::new(Code::InternalError, "a run begins with its plan"));
        };
        let path = &self.path;
        let fail = |e: rusqlite::Error| refusal(path, &e);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let reader = Reader { db: &tx, path };
        if let Some(other) = reader.unsettled_on(&plan.target)?.first() {
            return Err(Refusal::new(
                Code::RunUnsettled,
                format!("run {} on {} is not settled", other.run, plan.target),
            )
            .fix(format!(
                "Continue it with `dpone run MANIFEST --resume {0}`, or give it up with `dpone runs abandon {0}`.",
                other.run
            )));
        }
        let taken = tx.query_row("SELECT 1 FROM runs WHERE run_id = ?1", [run], |_| Ok(())).optional().map_err(fail)?;
        if taken.is_some() {
            return Err(Refusal::new(Code::OptionConflict, format!("the journal already has a run {run}"))
                .fix("Choose another --run-id, or continue that run with --resume."));
        }
        tx.execute(
            "INSERT INTO runs (run_id, manifest, target, created) VALUES (?1, ?2, ?3, ?4)",
            params![run, plan.manifest, plan.target, at],
        )
        .map_err(fail)?;
        let appended = rule::append(run, Head::EMPTY, 0, at, std::slice::from_ref(planned));
        let (_, stored) = appended.map_err(|e| Refusal::new(e.code, e.detail))?;
        insert(&tx, run, &stored).map_err(fail)?;
        tx.commit().map_err(fail)?;
        self.settle()
    }

    /// Raises a run's epoch: whoever held it before can append nothing any more. Hold the run's locks before.
    ///
    /// # Errors
    /// `run_not_found`, or a `journal_*` code.
    pub fn raise_epoch(&mut self, run: &str) -> Result<u64, Refusal> {
        let raised = self
            .db
            .prepare_cached("UPDATE runs SET epoch = epoch + 1 WHERE run_id = ?1 RETURNING epoch")
            // To its end: the statement commits behind its row, and a commit that fails says so only there.
            .and_then(|mut statement| statement.query_one([run], |r| r.get(0)).optional())
            .map_err(|e| refusal(&self.path, &e))?;
        match raised {
            Some(epoch) => {
                self.settle()?;
                Ok(epoch)
            }
            // The refusal for a run that is not there.
            None => self.run(run).map(|row| row.epoch),
        }
    }

    /// Brings what is committed into the main file, as far as no reader is in the way: a journal whose `-wal` is lost
    /// still knows every run, and the epoch that its newest runner has claimed the target under.
    fn settle(&self) -> Result<(), Refusal> {
        self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(|e| refusal(&self.path, &e))
    }

    /// Appends events of a runner, in one transaction that checks its epoch.
    pub(crate) fn append(&mut self, run: &str, epoch: u64, batches: &[(u64, Vec<Event>)]) -> Result<(), AppendError> {
        let sql = |e: rusqlite::Error| append_error(&e);
        let path = &self.path;
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let mut head = Reader { db: &tx, path }.head(run).map_err(sql)?;
        for (at, events) in batches {
            let (next, stored) = rule::append(run, head, epoch, *at, events)?;
            insert(&tx, run, &stored).map_err(sql)?;
            head = next;
        }
        tx.commit().map_err(sql)
    }
}
