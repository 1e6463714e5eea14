//! Builds the sealed document.

use super::document::*;
use super::log::{Announced, Incident, Log, Standing};
use super::quality::quality;
use super::ranges::ranges;
use super::run_key;
use crate::driver::{Entry, Observed};
use crate::manifest::{Consistency, Fidelity};
use crate::plan::{Coverage, Plan};
use crate::report::policy::PolicyView;
use crate::report::range::boundary_family;
use crate::run::effect::OwnedKind;
use crate::run::run::Fate;
use crate::run::{Ending, Run, State, Why, ending};

/// What the run proves, as of its log.
pub fn sealed(plan: &Plan, journal_key: &[u8; 32], run: &Run, entries: &[Entry], observed: Observed) -> Evidence {
    let log = Log::read(entries);
    let key = run_key(journal_key, &run.id);
    let ranges = ranges(plan, &key, run, &log);
    let outcome = match run.state {
        _ if run.published.is_some() => SealedOutcome::Delivered,
        State::FailedPrepublication => SealedOutcome::Failed,
        _ => SealedOutcome::Unknown,
    };
    let totals = Totals {
        ranges: ranges.len(),
        ranges_eof: ranges.iter().filter(|r| r.eof).count(),
        ranges_staged: ranges.iter().filter(|r| r.stage_confirmed).count(),
        rows_read: run.rows_read(),
        rows_staged: run.rows_loaded(),
        rows_published: run.published.as_ref().map(|(_, rows)| *rows),
        source_bytes: ranges.iter().filter_map(|r| r.source_bytes).sum(),
        objects: ranges.iter().map(|r| r.chunks.len()).sum(),
        object_bytes: ranges.iter().map(|r| r.bytes).sum(),
    };
    let quality = quality(plan, run);
    let coverage = coverage(plan, run);
    let manifest = &plan.manifest;
    let unverified = unverified(plan, outcome, &coverage, quality.checked && !quality.fidelity.compared);
    Evidence {
        schema: SCHEMA,
        run_id: run.id.to_string(),
        manifest: manifest.name.clone(),
        attempt: run.attempt,
        state: run.state.name(),
        outcome,
        sealed: log.last.clone(),
        policy_fingerprint: plan.policy_fingerprint.clone(),
        plan_fingerprint: plan.fingerprint.clone(),
        policy: PolicyView::from(&manifest.ranges),
        source: SourceEvidence {
            kind: manifest.source.kind,
            consistency: manifest.ranges.consistency,
            authority: run.authority.as_ref().map(|a| a.token.clone()),
            authority_persistent: run.authority.as_ref().map(|a| a.persistent),
            authority_lost: run.authority_lost,
        },
        target: TargetEvidence {
            kind: manifest.sink.kind,
            target: run.plan.target.clone(),
            strategy: manifest.sink.strategy.clone(),
            base: run.plan.base.identity.clone(),
        },
        staging_topology: run.plan.topology,
        range_column: plan.key.as_ref().map(|column| column.name.clone()),
        boundary_family: plan.key.as_ref().map(|column| boundary_family(&column.ty)),
        ranges,
        concurrency: ConcurrencyEvidence {
            requested: plan.requested,
            planned: plan.concurrency,
            observed_max: log.observed(plan.concurrency.readers),
        },
        fallback: plan.fallback.clone(),
        totals,
        high_water: HighWater {
            budget_bytes: plan.budget.bytes,
            budget_rows: plan.budget.rows,
            reserved_bytes: observed.reserved_peak.bytes,
            reserved_rows: observed.reserved_peak.rows,
            inflight_object_bytes: log.inflight_bytes,
            inflight_object_rows: log.inflight_rows,
            inflight_ranges: log.inflight_ranges(),
        },
        coverage,
        quality,
        attempts: log.attempts.clone(),
        runners: log.runners,
        failure: failure(run, &log),
        publication: publication(plan, run, &log),
        cleanup: pending(run),
        incidents: log.incidents,
        unverified,
    }
}

fn coverage(plan: &Plan, run: &Run) -> CoverageEvidence {
    let rows_read = run.rows_read();
    let all_read = run.units.iter().all(|unit| unit.read.is_some());
    CoverageEvidence {
        against: plan.coverage,
        counted_rows: run.counted,
        rows_read,
        complete: run.counted.filter(|_| all_read).map(|counted| counted == rows_read),
        waiver: match plan.coverage {
            Coverage::Relation => None,
            Coverage::Ranges => Some("gap_policy is allow_explicit: rows in gaps are left out on purpose"),
            Coverage::Waived => Some("the operator states that the source does not change"),
            Coverage::Statement => Some("one statement read every row, and no other one sees the same state"),
        },
    }
}

/// The incident of the present attempt that the halt was recorded for: named by its key, or the latest one with the same
/// cause.
pub(crate) fn cause<'a>(run: &Run, log: &'a Log, why: &Why) -> Option<&'a Incident> {
    let before = log.halted.as_ref().map_or(u64::MAX, |mark| mark.seq);
    log.incidents
        .iter()
        .filter(|incident| incident.attempt == run.attempt)
        .rfind(|i| i.mark.seq <= before && (log.halted_by == Some(i.key) || (log.halted_by.is_none() && i.why == *why)))
}

fn failure(run: &Run, log: &Log) -> Option<FailureEvidence> {
    let unknown = || match (run.state, ending(run)) {
        (State::OutcomeUnknown, Ending::Unknown(why)) => Some(why),
        _ => None,
    };
    let why: Why = run.halted.clone().or_else(unknown)?;
    let halted = log.halted.clone();
    let before = halted.as_ref().map_or(u64::MAX, |mark| mark.seq);
    let in_attempt = |incident: &&Incident| incident.attempt == run.attempt;
    let cause = cause(run, log, &why);
    let attached = log.incidents.iter().filter(in_attempt).filter(|i| cause.is_none_or(|c| c.mark != i.mark));
    Some(FailureEvidence {
        failure_class: why.code.class(),
        primary: PrimaryError {
            halted,
            code: why.code.to_string(),
            detail: why.detail.clone(),
            range: cause.and_then(|incident| incident.range),
        },
        attached: attached.cloned().collect(),
        cancelled: log.abandoned.iter().filter(in_attempt).filter(|i| i.mark.seq > before).cloned().collect(),
    })
}

fn publication(plan: &Plan, run: &Run, log: &Log) -> PublicationEvidence {
    let reached = |state| log.reached.get(&state).cloned();
    let confirmed = |p: &&Announced| p.standing == Standing::Confirmed;
    PublicationEvidence {
        atomicity: plan.target.atomicity.clone(),
        barrier: Barrier {
            range_eof: reached(State::RangeEof),
            stage_complete: reached(State::StageComplete),
            load_confirmed: reached(State::LoadConfirmed),
            quality_passed: reached(State::QualityPassed),
        },
        announced: log.publications.clone(),
        receipt: run.published.as_ref().map(|(identity, rows)| PublicationReceipt {
            identity: identity.clone(),
            rows: *rows,
            confirmed: log.publications.iter().find(confirmed).and_then(|p| p.settled.clone()),
        }),
    }
}

fn pending(run: &Run) -> PendingCleanup {
    let live = |kinds: &[OwnedKind]| {
        run.owned.values().filter(|owned| owned.fate == Fate::Live && kinds.contains(&owned.kind)).count()
    };
    PendingCleanup {
        status: "pending",
        objects: live(&[OwnedKind::Object]),
        staging: live(&[OwnedKind::Staging, OwnedKind::Load]),
        kept: run.owned.values().filter(|owned| owned.fate == Fate::Kept).count(),
    }
}

fn unverified(plan: &Plan, outcome: SealedOutcome, coverage: &CoverageEvidence, uncompared: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |holds: bool, text: &str| {
        if holds {
            notes.push(text.to_owned());
        }
    };
    let immutable = plan.manifest.ranges.consistency == Consistency::Immutable;
    note(immutable, "that the source did not change while it was read: the operator's statement, not checked here");
    note(coverage.waiver.is_some(), "that the ranges hold every row of the source: the count was waived");
    let reduced = plan.manifest.quality.fidelity != Fidelity::Rows;
    note(reduced, "that whole rows arrived unchanged: quality.fidelity asks for less than rows");
    note(uncompared && !reduced, "that whole rows arrived unchanged: the sink cannot profile its staging");
    note(outcome == SealedOutcome::Unknown, "whether the publication happened");
    note(true, "process memory: high_water holds reservations and what the journal shows, not the process's own size");
    notes
}
