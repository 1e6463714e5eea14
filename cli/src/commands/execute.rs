//! Works on one run with the real ports, and says what came of it.

use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::driver::{Entry, Finish, Order, drive};
use dpone_engine::evidence;
use dpone_engine::plan::Plan;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::Document;
use dpone_engine::run::{Ending, Policy, Run, State};
use dpone_journal::lock::{self, Locks};
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use tokio::runtime::Builder;

use super::Answer;
use super::run::one;
use crate::args::Global;
use crate::compose::RunPorts;
use crate::exit;
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{self, Told};
use crate::signals::Signals;

/// First and longest delay before another try or probe, milliseconds.
const BACKOFF: (u64, u64) = (200, 10_000);
/// How long what is in flight may still settle after a request to stop, milliseconds.
const STOP_GRACE: u64 = 3_000;

/// A run to be worked on.
pub(crate) struct Job<'a> {
    /// How its manifest was named, for the command to run next.
    pub(crate) manifest: &'a str,
    pub(crate) journal: Journal,
    /// Held until the log takes them over.
    pub(crate) locks: Option<Locks>,
    pub(crate) plan: Plan,
    pub(crate) run: String,
    /// Whether an operator gives the run up.
    pub(crate) abandon: bool,
}

/// Works on a run until it ends or must stop.
pub(crate) fn execute(global: &Global, mut job: Job<'_>, output: &Output) -> Answer {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| one(Refusal::new(Code::InternalError, format!("no runtime: {e}"))))?;
    let path = job.journal.path().to_owned();
    loop {
        let (run, entries) = job.journal.fold(&job.run).map_err(one)?;
        // A failed attempt that was not cleaned up is, first; the next attempt then follows under a higher epoch.
        let clean_first = run.state == State::FailedPrepublication && !run.closed && !job.abandon;
        let epoch = job.journal.raise_epoch(&job.run).map_err(one)?;
        let key = *job.journal.digest_key();
        let journal_id = job.journal.id().to_owned();
        let locks = match job.locks.take() {
            Some(locks) => locks,
            None => lock::take(&path, &job.plan.manifest.name, &job.plan.target.target).map_err(one)?,
        };
        let log = SqliteLog::start(Journal::open_existing(&path).map_err(one)?, job.run.clone(), epoch, locks)
            .map_err(|e| one(Refusal::new(e.code, e.detail)))?;
        let (finished, signal) = {
            let _in_runtime = runtime.enter();
            let signals =
                Signals::listen().map_err(|e| one(Refusal::new(Code::InternalError, format!("no signals: {e}"))))?;
            let silent = global.no_progress || global.quiet;
            let progress = Progress::new(silent, job.plan.ranges.len() as u32, job.plan.source_rows);
            let ports = RunPorts::new(&job.plan, log, progress, signals)?;
            let render = |document: Document, run: &Run, entries: &[Entry], observed| {
                evidence::render(document, &job.plan, &key, run, entries, observed)
            };
            let order = order(&job, journal_id, &render);
            let finished = runtime.block_on(drive(&ports, run, entries, epoch, &order));
            ports.done();
            (finished, ports.signal())
        };
        // Blocking steps that a stop left behind do not keep the process.
        if clean_first && matches!(finished.finish, Finish::Ended(Ending::Failed(_))) {
            continue;
        }
        runtime.shutdown_timeout(Duration::from_millis(500));
        let told = Told {
            manifest: job.manifest,
            journal: &job.journal,
            plan: &job.plan,
            run: &finished.run,
            entries: &finished.entries,
            finish: Some(&finished.finish),
            observed: finished.observed,
            signal,
        };
        return Ok(report::tell(&told, output));
    }
}

fn order<'a>(job: &Job<'_>, journal: String, render: dpone_engine::driver::Render<'a>) -> Order<'a> {
    let policy = Policy { abandon: job.abandon, ..job.plan.policy() };
    Order {
        policy,
        budget: job.plan.budget.total(),
        grant: job.plan.budget.grant(),
        check: job.plan.budget.check_bytes,
        uploads: job.plan.concurrency.uploads,
        journal,
        backoff: BACKOFF.0,
        max_backoff: BACKOFF.1,
        stop_grace: STOP_GRACE,
        render,
    }
}

/// Says that the newest run was delivered already.
pub(crate) fn nothing_to_do(
    manifest: &str,
    journal: &Journal,
    plan: &Plan,
    run: &Run,
    entries: &[Entry],
    output: &Output,
) -> u8 {
    let told = Told { manifest, journal, plan, run, entries, finish: None, observed: Default::default(), signal: None };
    report::tell(&told, output);
    exit::DELIVERED
}
