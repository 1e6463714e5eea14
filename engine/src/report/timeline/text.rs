//! A timeline as text: grouped by runner and state, one line per thing that happened, how long it took, and what did not
//! go as intended marked.

use std::fmt::Write as _;

use super::{Fact, Timeline};
use crate::report::grid::{Grid, one_line};
use crate::report::units::{count, duration};
use crate::run::EventKind;

/// The timeline, for a terminal.
pub fn text(timeline: &Timeline) -> String {
    let mut out = String::new();
    let until = match timeline.at_seq == timeline.facts {
        true => format!("{} facts", timeline.facts),
        false => format!("fact {} of {}", timeline.at_seq, timeline.facts),
    };
    let _ = writeln!(out, "Run {} of {} into {}: {until}", timeline.run_id, timeline.manifest, timeline.target);
    for range in &timeline.ranges {
        let _ = writeln!(out, "  {}: {}", range.id, one_line(&range.rows_with));
    }
    out.push('\n');
    for fact in &timeline.events {
        line(&mut out, fact);
    }
    known(&mut out, timeline);
    list(&mut out, "Open", timeline.open.iter().map(open_text));
    let nothing = match (timeline.next.is_empty(), timeline.next_on_resume.is_empty()) {
        (false, _) => None,
        (true, true) => Some("nothing: the run is at its end"),
        (true, false) => Some("nothing until something open is settled"),
    };
    list(&mut out, "Next", timeline.next.iter().cloned().chain(nothing.map(str::to_owned)));
    list(&mut out, "A runner that took it over would first", timeline.next_on_resume.iter().cloned());
    out
}

/// Every fact as a table.
pub fn table(timeline: &Timeline, markdown: bool) -> String {
    let mut grid = Grid::new(&[">seq", "at", ">after", "kind", ">key", "range", ">took", "what"]);
    for fact in &timeline.events {
        grid.row([
            fact.seq.to_string(),
            fact.at.clone(),
            duration(fact.since_ms),
            kind(fact.kind),
            fact.key.map(|key| key.to_string()).unwrap_or_default(),
            fact.range.map(|range| format!("r{range}")).unwrap_or_default(),
            fact.took_ms.map(duration).unwrap_or_default(),
            fact.text.clone(),
        ]);
    }
    if markdown { grid.markdown() } else { grid.text() }
}

fn line(out: &mut String, fact: &Fact) {
    // What was announced and settled is told once, where it was settled.
    if fact.kind == EventKind::Intended && fact.settled_below {
        return;
    }
    let heading = matches!(fact.kind, EventKind::AttemptStarted | EventKind::TakenOver | EventKind::Moved);
    let indent = match fact.kind {
        EventKind::Planned | EventKind::AttemptStarted | EventKind::TakenOver => "",
        EventKind::Moved => " ",
        _ => "  ",
    };
    let clock = fact.at.get(11..23).unwrap_or(&fact.at);
    let mark = if fact.trouble { "!" } else { " " };
    let took = fact.took_ms.filter(|ms| *ms > 0).map(|ms| format!(" [{}]", duration(ms))).unwrap_or_default();
    let pause = if fact.since_ms >= 1000 { format!("  (+{})", duration(fact.since_ms)) } else { String::new() };
    if heading && fact.kind != EventKind::Moved {
        out.push('\n');
    }
    // Runs can be taken over days later; the clock alone would not say so.
    let day = match (fact.kind, fact.at.get(..10)) {
        (EventKind::Planned | EventKind::TakenOver, Some(day)) => format!(", {day}"),
        _ => String::new(),
    };
    let _ = writeln!(out, "{:>5} {clock} {mark} {indent}{}{day}{took}{pause}", fact.seq, one_line(&fact.text));
}

fn known(out: &mut String, timeline: &Timeline) {
    let k = &timeline.known;
    let _ = writeln!(out, "\nKnown then");
    let mut fact = |name: &str, value: String| {
        let _ = writeln!(out, "  {name:<12}{value}");
    };
    fact("state", format!("{}, attempt {}, epoch {}", k.state, k.attempt, k.epoch));
    fact("read", format!("{} of {} ranges, {} rows", k.ranges_read, k.ranges, count(k.rows_read)));
    if let Some(rows) = k.counted_rows {
        fact("source", format!("{} rows", count(rows)));
    }
    fact("staged", format!("{} of {} ranges, {} rows", k.ranges_staged, k.ranges, count(k.rows_staged)));
    let published = match k.published {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    fact("published", published.to_owned());
    if let Some(halted) = &k.halted {
        fact("stopped by", one_line(halted));
    }
    fact("owned", format!("{} name(s) to remove", k.owned));
}

fn open_text(open: &super::OpenView) -> String {
    let doubt = match (&open.why, open.doubted) {
        (Some(why), _) => format!(" (in doubt: {why})"),
        (None, true) => " (in doubt: its runner is gone)".to_owned(),
        (None, false) => String::new(),
    };
    let probes = if open.probes > 0 { format!(", looked {} time(s)", open.probes) } else { String::new() };
    format!("{} (since {}{probes}){doubt}", open.effect, open.since_seq)
}

fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for line in lines {
        let _ = writeln!(out, "  {}", one_line(&line));
    }
}

fn kind(kind: EventKind) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
