//! The proof that a consistency mode needs.

use super::super::problems::Problems;
use super::super::ranges::{Consistency, ConsistencyAuthority};
use super::super::source::SourceType;
use crate::codes::Code;

const AUTHORITY: &str = "source.options.partitioning.range_parallelism.consistency_authority";

/// The mode of a source for which none is stated: the best that it has of itself.
pub(super) fn default_of(kind: SourceType) -> Consistency {
    match kind {
        SourceType::Sqlite | SourceType::Postgres => Consistency::ExportedSnapshot,
        SourceType::Mssql | SourceType::Mysql | SourceType::Odbc | SourceType::Files | SourceType::Mongodb => {
            Consistency::Statement
        }
    }
}

/// Refuses a mode without its proof, and a proof of another mode.
pub(super) fn check(consistency: Consistency, authority: &ConsistencyAuthority, problems: &mut Problems<'_>) {
    let given = [
        ("database_snapshot", authority.database_snapshot.is_some()),
        ("as_of", authority.as_of.is_some()),
        ("lease", authority.lease.is_some()),
        ("proof", authority.proof.is_some()),
        ("query", authority.query.is_some()),
    ];
    let wanted: &[&str] = match consistency {
        Consistency::Immutable | Consistency::ExportedSnapshot | Consistency::Statement => &[],
        Consistency::DatabaseSnapshot => &["database_snapshot"],
        Consistency::TemporalAsOf => &["as_of"],
        Consistency::WriteExclusion => &["lease", "proof"],
    };
    for (name, _) in given.iter().filter(|(name, there)| {
        *there && !wanted.contains(name) && !(*name == "query" && consistency == Consistency::WriteExclusion)
    }) {
        problems.add(
            &format!("{AUTHORITY}.{name}"),
            Code::OptionConflict,
            format!("`{name}` proves nothing for `consistency: {consistency}`"),
            "Remove it, or choose the consistency mode that it belongs to.",
        );
    }
    if !wanted.is_empty() && !given.iter().any(|(name, there)| *there && wanted.contains(name)) {
        problems.add(
            AUTHORITY,
            Code::ConsistencyAuthorityMissing,
            format!("`consistency: {consistency}` needs an authority"),
            format!("Add `consistency_authority: {{{}: …}}`.", wanted.join(" or ")),
        );
    }
    if consistency == Consistency::WriteExclusion && authority.query.is_none() {
        problems.add(
            &format!("{AUTHORITY}.query"),
            Code::ConsistencyAuthorityMissing,
            "a lease or proof that nothing checks keeps no writer out",
            "Add `query`: one SELECT that returns 1 for as long as writers are out.",
        );
    }
    if let Some(as_of) = &authority.as_of
        && !is_time(as_of)
    {
        problems.add(
            &format!("{AUTHORITY}.as_of"),
            Code::ManifestInvalidValue,
            "`as_of` is not a date and time",
            "Write it as `2026-01-31T12:00:00`, with up to nine fractional digits, or with `Z` for UTC.",
        );
    }
}

/// A civil date and time, or an instant in UTC; other offsets would have to be shifted.
fn is_time(text: &str) -> bool {
    let (civil, utc) = text.strip_suffix('Z').map_or((text, false), |civil| (civil, true));
    let shaped = civil.len() >= 19
        && civil.as_bytes().get(10) == Some(&b'T')
        && !civil[10..].contains(['+', '-', '[', 'Z', 'z']);
    shaped && if utc { text.parse::<jiff::Timestamp>().is_ok() } else { civil.parse::<jiff::civil::DateTime>().is_ok() }
}

#[cfg(test)]
mod tests {
    use super::is_time;

    #[test]
    fn only_a_whole_date_and_time_is_a_time() {
        for text in
            ["2026-01-31T12:00:00", "2026-01-31T12:00:00.123456789", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.7Z"]
        {
            assert!(is_time(text), "{text}");
        }
        for text in [
            "2026-01-31",
            "2026-02-30T12:00:00",
            "2026-01-31 12:00:00",
            "2026-01-31T12:00",
            "12:00:00",
            "2026-01-31T12:00:00+02:00",
            "2026-01-31T12:00:00[Europe/Paris]",
            "2026-01-31T25:00:00",
            "now",
            "",
            "ééééééééééééé",
        ] {
            assert!(!is_time(text), "{text}");
        }
    }
}
