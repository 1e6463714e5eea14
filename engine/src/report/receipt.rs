//! The receipt of a run as text and as Markdown.

use std::fmt::Write as _;

use super::grid::{Grid, one_line};
use super::run_result::{RunOutcome, RunResult, quoted};
use super::units::{bytes, count, duration};
use crate::codes::Code;
use crate::driver::Entry;
use crate::manifest::DEFAULT_JOURNAL;
use crate::run::Event;

/// The receipt, for a terminal; `markdown` writes tables and lists of Markdown instead.
pub fn receipt(result: &RunResult, entries: &[Entry], markdown: bool) -> String {
    let mut out = String::new();
    let mark = if markdown { "# " } else { "" };
    let head = match (result.outcome, result.code.as_deref()) {
        (RunOutcome::Delivered, None) => "delivered".to_owned(),
        (RunOutcome::Delivered, Some(code)) => format!("delivered, cleanup deferred ({code})"),
        (RunOutcome::NothingToDo, _) => "nothing to do: this run is delivered".to_owned(),
        (RunOutcome::Failed, Some(code)) if code == Code::RunAbandoned.as_str() => {
            "given up, nothing was published".to_owned()
        }
        (RunOutcome::Failed, code) => format!("failed ({}), nothing was published", code.unwrap_or("unknown")),
        (RunOutcome::Suspended, code) => format!("suspended in {} ({})", result.state, code.unwrap_or("suspended")),
        (RunOutcome::Running, _) => format!("running, in {}", result.state),
        (RunOutcome::Interrupted, _) => format!("interrupted in {}", result.state),
        (RunOutcome::Unknown, code) => format!("outcome unknown ({})", code.unwrap_or("unknown")),
    };
    let _ = writeln!(out, "{mark}{}: {head}", result.manifest);
    if markdown {
        out.push('\n');
    }
    let mut fact = |name: &str, value: &str| {
        let _ = match markdown {
            true => writeln!(out, "- **{name}**: {}", one_line(value)),
            false => writeln!(out, "  {name:<12}{}", one_line(value)),
        };
    };
    fact("run", &result.run_id);
    if let Some(detail) = &result.detail {
        fact("cause", detail);
    }
    let elapsed = match worked(entries) {
        0 => String::new(),
        ms => format!(", {}", duration(ms)),
    };
    fact(
        "rows",
        &format!("{} in {}, {}{elapsed}", count(result.rows), of(result.ranges.len(), "range"), bytes(result.bytes)),
    );
    for note in &result.notes {
        fact("note", note);
    }
    fact("target", &result.target);
    let observed = result.concurrency.observed;
    let at_once = [(observed.readers, "reader"), (observed.uploads, "upload"), (observed.loads, "load")];
    fact("at once", &at_once.map(|(n, what)| of(n as usize, what)).join(", "));
    let budget = &result.budget;
    let reserved =
        budget.reserved_peak.map(|peak| format!("{} reserved at most, of ", bytes(peak))).unwrap_or_default();
    fact("budget", &format!("{reserved}{}", bytes(budget.configured)));
    fact("quality", &quality(result));
    // The first one is the cause; the others have to be mended as well.
    let failed = result.quality.gates.iter().filter(|gate| !gate.passed).skip(1);
    for gate in failed {
        fact("gate", &format!("{}: {}", gate.gate, gate.detail.as_deref().unwrap_or("failed")));
    }
    if let Some(evidence) = &result.evidence {
        for document in [&evidence.sealed, &evidence.cleanup].into_iter().flatten() {
            // On a line of its own, so that the path is whole on a narrow terminal.
            fact("evidence", &document.path);
            let sha256 = if markdown { document.sha256.clone() } else { shortened(&document.sha256) };
            fact("SHA-256", &sha256);
        }
    }
    fact("journal", &result.journal);
    let stated = match result.journal == DEFAULT_JOURNAL {
        true => String::new(),
        false => format!(" --journal {}", quoted(&result.journal)),
    };
    fact("replay", &format!("dpone journal inspect{stated} {}", quoted(&result.run_id)));
    if let Some(next) = &result.next {
        fact("next", next);
    }
    let mut grid = Grid::new(&["range", ">rows", ">bytes", ">chunks", ">reads", "checksum"]);
    for range in &result.ranges {
        grid.row([
            range.id.clone(),
            count(range.rows),
            bytes(range.bytes),
            range.chunks.to_string(),
            range.attempts.to_string(),
            range.checksum.as_deref().map(shortened).unwrap_or_default(),
        ]);
    }
    out.push('\n');
    out.push_str(&if markdown { grid.markdown() } else { grid.text() });
    out
}

fn quality(result: &RunResult) -> String {
    let quality = &result.quality;
    if !quality.checked {
        return "not checked".to_owned();
    }
    let failed: Vec<_> = quality.gates.iter().filter(|gate| !gate.passed).map(|gate| gate.gate.as_str()).collect();
    let gates = match failed.is_empty() {
        true if quality.gates.is_empty() => "no gate was asked for".to_owned(),
        true => format!("{} passed", of(quality.gates.len(), "gate")),
        false => format!("failed: {}", failed.join(", ")),
    };
    let fidelity = match (quality.fidelity.passed, quality.fidelity.reason) {
        (Some(true), _) => format!("staging equals what was read ({})", quality.fidelity.level),
        (Some(false), _) => format!("staging differs from what was read ({})", quality.fidelity.level),
        (None, reason) => format!("not compared: {}", reason.unwrap_or("unknown")),
    };
    format!("{gates}; {fidelity}")
}

/// Milliseconds that runners worked on it: not the time between one's last fact and the next one's first.
fn worked(entries: &[Entry]) -> u64 {
    let steps = entries.windows(2).filter(|pair| !matches!(pair[1].event, Event::TakenOver { .. }));
    steps.map(|pair| pair[1].at.saturating_sub(pair[0].at)).sum()
}

/// A count with its noun.
fn of(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}

/// The beginning of a digest; JSON and evidence have all of it.
fn shortened(digest: &str) -> String {
    match digest.get(..12) {
        Some(head) => format!("{head}…"),
        None => digest.to_owned(),
    }
}
