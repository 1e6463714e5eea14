//! A plan as text and as Markdown: one walk over the plan, two ways of writing it down.

use std::fmt::Write as _;

use super::document::{ddl, mapping, reads};
use crate::manifest::{Bounds, Quality, RangeCount, RangeMode};
use crate::plan::{Blocked, Coverage, Finding, Plan};
use crate::ranges::{Bound, Scope, UnitRange, render_value};
use crate::report::grid::{Grid, one_line};
use crate::report::units::{bytes, count};
use crate::schema::Column;

/// A plan for a terminal.
pub fn text(plan: &Plan, show_values: bool) -> String {
    write(plan, show_values, Page::new(false))
}

/// A plan as Markdown.
pub fn markdown(plan: &Plan, show_values: bool) -> String {
    write(plan, show_values, Page::new(true))
}

/// Why there is no plan, for a terminal.
pub fn blocked_text(blocked: &Blocked) -> String {
    write_blocked(blocked, Page::new(false))
}

/// Why there is no plan, as Markdown.
pub fn blocked_markdown(blocked: &Blocked) -> String {
    write_blocked(blocked, Page::new(true))
}

/// What is being written.
struct Page {
    markdown: bool,
    out: String,
}

impl Page {
    fn new(markdown: bool) -> Self {
        Self { markdown, out: String::new() }
    }

    fn title(&mut self, title: &str) {
        let mark = if self.markdown { "# " } else { "" };
        let _ = writeln!(self.out, "{mark}{title}");
    }

    fn section(&mut self, title: &str) {
        let (mark, gap) = if self.markdown { ("## ", "\n\n") } else { ("", "\n") };
        let _ = write!(self.out, "\n{mark}{title}{gap}");
    }

    fn fact(&mut self, name: &str, value: &str) {
        let _ = match self.markdown {
            true => writeln!(self.out, "- **{name}**: {}", one_line(value)),
            false => writeln!(self.out, "  {name:<14}{}", one_line(value)),
        };
    }

    fn line(&mut self, text: &str) {
        let mark = if self.markdown { "- " } else { "  " };
        let _ = writeln!(self.out, "{mark}{}", one_line(text));
    }

    fn grid(&mut self, grid: &Grid) {
        self.out.push_str(&if self.markdown { grid.markdown() } else { grid.text() });
    }

    fn code(&mut self, statements: &[String]) {
        if self.markdown {
            let statements: Vec<_> = statements.iter().map(|s| format!("{};\n", s.trim_end_matches(';'))).collect();
            let _ = writeln!(self.out, "```sql\n{}```", statements.concat());
        } else {
            for line in statements.iter().flat_map(|s| s.lines()) {
                let _ = writeln!(self.out, "  {line}");
            }
        }
    }

    fn findings(&mut self, title: &str, findings: &[Finding]) {
        if findings.is_empty() {
            return;
        }
        self.section(title);
        for finding in findings {
            let fix = finding.fix.as_deref().map(|fix| format!(" {fix}")).unwrap_or_default();
            let text = format!("{}: {}.{fix}", finding.code, finding.message.trim_end_matches('.'));
            self.line(&text);
        }
    }
}

fn write(plan: &Plan, show_values: bool, mut page: Page) -> String {
    let manifest = &plan.manifest;
    page.title(&format!("Plan of {}", manifest.name));
    if page.markdown {
        page.out.push('\n');
    }
    page.fact("fingerprint", &plan.fingerprint);
    let rows = plan.source_rows.map(|rows| format!(", about {} rows", count(rows))).unwrap_or_default();
    page.fact("source", &format!("{}: {}{rows}", manifest.source.kind, reads(&manifest.source)));
    page.fact("target", &format!("{} ({})", plan.target.target, if plan.target.exists { "exists" } else { "new" }));
    page.fact("strategy", &strategy(plan));
    page.fact("consistency", manifest.ranges.consistency.as_str());
    page.fact("coverage", coverage(plan.coverage));
    page.fact("quality", &quality(&manifest.quality));

    ranges(plan, show_values, &mut page);
    page.findings("One range instead of several, because", &plan.fallback);

    page.section("Concurrency and budget");
    let mut grid = Grid::new(&["", ">asked for", ">planned"]);
    for (name, asked, planned) in [
        ("readers", plan.requested.readers, plan.concurrency.readers),
        ("uploads", plan.requested.uploads, plan.concurrency.uploads),
        ("loads", plan.requested.loads, plan.concurrency.loads),
    ] {
        grid.row([name.to_owned(), asked.to_string(), planned.to_string()]);
    }
    page.grid(&grid);
    page.out.push('\n');
    let b = &plan.budget;
    page.fact("budget", &format!("{} and {} rows", bytes(b.bytes), count(b.rows)));
    let spare = b.shares - plan.concurrency.readers.min(b.shares);
    let shares = match spare {
        0 => format!("{} shares, one per reader", b.shares),
        _ => format!("{} shares, one per reader and {spare} for chunks that wait to be written", b.shares),
    };
    page.fact("divided", &shares);
    let batch = format!(
        "{} and {} rows (a reader of this schema needs at least {})",
        bytes(b.grant_bytes),
        count(b.grant_rows),
        bytes(b.min_grant_bytes)
    );
    page.fact("one batch", &batch);
    page.fact("check", &format!("{} for the check of staging", bytes(b.check_bytes)));

    page.section("Types");
    let mut grid = Grid::new(&["column", "source", "exact type", "null", "target"]);
    for m in mapping(plan) {
        let null = if m.nullable { "yes" } else { "no" };
        grid.row([m.column, m.source, m.logical, null.to_owned(), m.target]);
    }
    page.grid(&grid);
    if !ddl(plan).is_empty() {
        page.section("DDL");
        page.code(ddl(plan));
    }
    page.section("Publication");
    page.fact("staging", plan.topology.as_str());
    page.fact("atomicity", &plan.target.atomicity);
    page.findings("Warnings", &plan.warnings);
    page.out
}

fn ranges(plan: &Plan, show_values: bool, page: &mut Page) {
    page.section(&format!("Ranges ({})", plan.ranges.len()));
    let Some(key) = &plan.key else {
        let why = match plan.manifest.ranges.mode {
            RangeMode::Off => "range_parallelism.mode is off",
            RangeMode::Auto | RangeMode::Required if plan.fallback.is_empty() => "one range is asked for",
            RangeMode::Auto | RangeMode::Required => "see below",
        };
        page.line(&format!("The whole source in one scan: {why}."));
        return;
    };
    let index = if plan.key_indexed { "indexed" } else { "no index known" };
    page.fact("column", &format!("{} ({}, {index})", key.name, key.ty));
    if page.markdown {
        page.out.push('\n');
    }
    let mut grid = Grid::new(&["range", "rows with"]);
    for range in &plan.ranges {
        grid.row([format!("r{}", range.ordinal), rows_with(range, Some(key), show_values)]);
    }
    page.grid(&grid);
    let cut = plan.ranges.iter().filter(|range| range.scope != Scope::Null).count();
    let policy = &plan.manifest.ranges;
    if let (RangeCount::Fixed(asked), Bounds::Auto | Bounds::Between { .. }) = (policy.count, &policy.bounds)
        && cut < asked as usize
    {
        page.line(&format!("{asked} were asked for; the values of the column give no more cuts than these."));
    }
    if !show_values {
        page.line("Boundaries are values of the source; --show-values shows them.");
    }
}

/// Which rows a range holds, in mathematical notation; `key` is the plan's range column.
pub fn rows_with(range: &UnitRange, key: Option<&Column>, show_values: bool) -> String {
    let Some(Column { name: column, ty, .. }) = key else { return "every row".to_owned() };
    let (lower, upper) = match &range.scope {
        Scope::WholeTable => return "every row".to_owned(),
        Scope::Null => return format!("{column} is NULL"),
        Scope::Interval { lower, upper } => (lower, upper),
    };
    let value = |bound: &Bound, name: &str| match bound {
        Bound::Open => String::new(),
        Bound::Inclusive(v) | Bound::Exclusive(v) if show_values => render_value(ty, v),
        Bound::Inclusive(_) | Bound::Exclusive(_) => name.to_owned(),
    };
    let (low, high) = (format!("b{}", range.ordinal), format!("b{}", range.ordinal + 1));
    let (low, high) = (value(lower, &low), value(upper, &high));
    let from = if matches!(lower, Bound::Inclusive(_)) { "<=" } else { "<" };
    let to = if matches!(upper, Bound::Inclusive(_)) { "<=" } else { "<" };
    match (lower, upper) {
        (Bound::Open, Bound::Open) => format!("{column} is not NULL"),
        (Bound::Open, _) => format!("{column} {to} {high}"),
        (_, Bound::Open) => format!("{column} {} {low}", if from == "<=" { ">=" } else { ">" }),
        _ => format!("{low} {from} {column} {to} {high}"),
    }
}

fn strategy(plan: &Plan) -> String {
    let strategy = &plan.manifest.sink.strategy;
    match strategy.key.is_empty() {
        true => strategy.mode.to_string(),
        false => format!("{} by {}", strategy.mode, strategy.key.join(", ")),
    }
}

const fn coverage(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Relation => "the ranges together must hold every row of the source",
        Coverage::Ranges => "waived: gaps are allowed, and rows in them are not delivered",
        Coverage::Waived => "waived: the operator states that the source does not change",
        Coverage::Statement => "waived: one statement reads every row, and no other one sees the same state",
    }
}

fn quality(quality: &Quality) -> String {
    let mut gates = vec![format!("min_rows {}", quality.min_rows)];
    gates.extend(quality.not_null.iter().map(|column| format!("not_null({column})")));
    gates.extend(quality.unique.iter().map(|column| format!("unique({column})")));
    gates.push(format!("fidelity {}", quality.fidelity));
    gates.join(", ")
}

fn write_blocked(blocked: &Blocked, mut page: Page) -> String {
    let name = blocked.manifest.as_deref().unwrap_or("the manifest");
    page.title(&format!("No plan of {name}: {} blocker(s)", blocked.blockers.len()));
    for blocker in &blocked.blockers {
        page.section(blocker.code.as_str());
        page.fact("found", &blocker.message);
        if let Some(place) = &blocker.place {
            page.fact("at", place);
        }
        if let Some(fix) = &blocker.fix {
            page.fact("fix", fix);
        }
    }
    page.findings("Warnings", &blocked.warnings);
    page.out
}
