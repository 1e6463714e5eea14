//! Works on one run with the real ports, and says what came of it.

use std::time::Duration;

use dpone_engine::codes::Code;
use dpone_engine::driver::{Finish, Finished, Order, Render, drive};
use dpone_engine::evidence;
use dpone_engine::plan::Plan;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::effect::Document;
use dpone_engine::run::{Ending, Policy, Run, State};
use dpone_journal::lock::{self, Locks};
use dpone_journal::log::SqliteLog;
use dpone_journal::sqlite::Journal;
use tokio::runtime::{Builder, Runtime};

use super::{Answer, one};
use crate::args::Global;
use crate::compose::{RunPorts, Sides};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{self, Told};
use crate::signals::Signals;

/// First and longest delay before another try or probe, milliseconds.
const BACKOFF: (u64, u64) = (200, 10_000);
/// How long what is in flight may still settle after a request to stop, milliseconds.
const STOP_GRACE: u64 = 3_000;
/// How long the process waits for blocking steps that a stop left behind.
const LEFT_BEHIND: Duration = Duration::from_millis(500);

/// A run to be worked on.
pub(crate) struct Job<'a> {
    /// How its manifest was named, for the command to run next.
    pub(crate) manifest: &'a str,
    pub(crate) journal: Journal,
    /// Held until the log takes them over.
    pub(crate) locks: Option<Locks>,
    /// Made before the run was recorded; what follows makes its own.
    pub(crate) sides: Option<Sides>,
    pub(crate) plan: Plan,
    pub(crate) run: String,
    /// Whether an operator gives the run up.
    pub(crate) abandon: bool,
}

/// Works on a run until it ends or must stop.
pub(crate) fn execute(global: &Global, mut job: Job<'_>, output: &Output) -> Answer {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|e| defect("no runtime", &e))?;
    let progress = Progress::new(global, &job.plan, job.abandon, output.stderr);
    let signals = Signals::listen(progress.announcer()).map_err(|e| defect("no signals", &e))?;
    let finished = loop {
        let (run, finished) = once(&runtime, &mut job, &progress, &signals)?;
        // A failed attempt that was not cleaned up is, first; the next attempt then follows under a higher epoch.
        let cleaned = run.state == State::FailedPrepublication && !run.closed;
        if !(cleaned && matches!(finished.finish, Finish::Ended(Ending::Failed(_)))) {
            break finished;
        }
    };
    progress.finish();
    runtime.shutdown_timeout(LEFT_BEHIND);
    let told = Told {
        manifest: job.manifest,
        journal: &job.journal,
        plan: &job.plan,
        run: &finished.run,
        entries: &finished.entries,
        finish: Some(&finished.finish),
        observed: Some(finished.observed),
        signal: signals.number(),
        abandon: job.abandon,
    };
    Ok(report::tell(&told, output))
}

/// One runner under one epoch. Answers with the run as it was before, too.
fn once(
    runtime: &Runtime,
    job: &mut Job<'_>,
    progress: &Progress,
    signals: &Signals,
) -> Result<(Run, Finished), Vec<Refusal>> {
    let path = job.journal.path().to_owned();
    let mut locks = match job.locks.take() {
        Some(locks) => locks,
        None => lock::take(&path, &job.plan.manifest.name, &job.plan.target.target).map_err(one)?,
    };
    // Before the journal is touched: what is refused here leaves the run as it was.
    let sides = match job.sides.take() {
        Some(sides) => sides,
        None => Sides::of(&job.plan, &job.run)?,
    };
    // Only for `dpone runs`; the locks hold without it.
    let _ = locks.working_on(&job.run);
    let (run, entries) = job.journal.fold(&job.run).map_err(one)?;
    let epoch = job.journal.raise_epoch(&job.run).map_err(one)?;
    let log = SqliteLog::start(job.journal.reopen().map_err(one)?, job.run.clone(), epoch, locks)
        .map_err(|e| one(Refusal::new(e.code, e.detail)))?;
    let key = *job.journal.digest_key();
    let plan = &job.plan;
    let render = |document: Document, run: &Run, entries: &[_], observed| {
        evidence::render(document, plan, &key, run, entries, observed)
    };
    let order = order(job, &render);
    let finished = {
        let _in_runtime = runtime.enter();
        let ports = RunPorts::new(log, sides, progress, signals);
        runtime.block_on(drive(&ports, run.clone(), entries, epoch, &order))
    };
    Ok((run, finished))
}

fn order<'a>(job: &Job<'_>, render: Render<'a>) -> Order<'a> {
    let policy = Policy { abandon: job.abandon, ..job.plan.policy() };
    Order {
        policy,
        budget: job.plan.budget.total(),
        grant: job.plan.budget.grant(),
        check: job.plan.budget.check_bytes,
        uploads: job.plan.concurrency.uploads,
        journal: job.journal.id().to_owned(),
        backoff: BACKOFF.0,
        max_backoff: BACKOFF.1,
        stop_grace: STOP_GRACE,
        render,
    }
}

fn defect(what: &str, error: &std::io::Error) -> Vec<Refusal> {
    one(Refusal::new(Code::InternalError, format!("{what}: {error}")))
}
