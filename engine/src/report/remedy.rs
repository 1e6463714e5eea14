//! What to do about how a run ended, in one sentence. Refusals bring their own; the page of a code says more.

use crate::codes::Code;

/// What mends a run that ended with that code, before `next` is run; `None` if there is nothing to mend. `anew` is the
/// command that starts a new run: a resumed one keeps the manifest that it was planned with.
pub fn remedy(code: Code, anew: &str) -> Option<String> {
    let then = |change: &str| format!("{change} and start a new run: `{anew}`.");
    let or = |mend: &str, change: &str| format!("{mend} and resume; or {}", then(change));
    let text = match code {
        Code::SourceValueTypeMismatch => {
            or("Correct the cell", "state a type that holds it in source.options.types (`text` takes any)")
        }
        Code::DecimalNotFinite | Code::DecimalScaleOverflow | Code::DecimalOverflow | Code::DateOutOfRange => or(
            "Correct the rows",
            "state a type that holds them in source.options.types (`text` takes any), or leave them out in a query",
        ),
        Code::OdbcValueTruncated => {
            then("State the column's real length or `text` in source.options.types, or use another driver,")
        }
        Code::TextUnsupportedByTarget => or("Correct the rows", "turn them into something else in a source query"),
        Code::InvalidTextEncoding => {
            or("Correct the cell", "deliver the column's bytes with type `binary` in source.options.types")
        }
        Code::SourceChangedDuringOpen => {
            or("Wait until less is written to the source", "read a copy with `consistency: immutable`")
        }
        Code::SourceReadFailed => {
            "Look at what the message says of the source (its server, the network, its disk), then resume.".to_owned()
        }
        Code::SourceSchemaChanged => then("Look at what changed in the source"),
        Code::PhysicalChunkRowExceedsMaxBytes => {
            then("Raise max_inflight_bytes above what is needed, or leave the column out with source.options.columns,")
        }
        Code::RangeCoverageMismatch => {
            then("Let the first and the last range be open and add `{null: true}`, or use `bounds: auto`,")
        }
        Code::ConsistencyAuthorityLost => "Resume: everything is read again, from a new state.".to_owned(),
        Code::ObjectUploadFailed | Code::ObjectUploadUnconfirmed | Code::ObjectReadFailed => {
            "Make the transfer store readable and writable again, then resume.".to_owned()
        }
        Code::ObjectKeyConflict => then("Give the transfer store a folder of its own"),
        Code::ObjectLost => "Find out what removes objects from the transfer store, then resume.".to_owned(),
        Code::SpoolDiskFull | Code::TargetDiskFull => "Free space on that disk, then resume.".to_owned(),
        Code::StagingNameConflict => "Resume: the next try draws another name.".to_owned(),
        Code::LoadFailed | Code::PublicationFailed => "Remove the cause in the target, then resume.".to_owned(),
        Code::LoadOutcomeUnknown | Code::TargetNotReachable | Code::PublicationOutcomeUnknown => {
            "Make the target reachable, then run what is next.".to_owned()
        }
        Code::LoadCountMismatch | Code::FidelityMismatch => {
            "Resume: staging is written again. If it happens again, report it.".to_owned()
        }
        Code::FloatNotFiniteUnsupportedByTarget => {
            then("Turn NaN and infinity into something else in a source query, or deliver to another sink,")
        }
        Code::FloatNegativeZeroUnsupportedByTarget => {
            then("Add 0.0 to the column in a source query, or deliver to another sink,")
        }
        Code::TargetLocked => "End the other program's transaction on the target, then resume.".to_owned(),
        Code::QualityMinRows => or("Find out why the source has so few rows", "lower quality.min_rows"),
        Code::QualityNotNull => or("Correct the rows in the source", "take the column out of quality.not_null"),
        Code::QualityUnique => or("Correct the rows in the source", "take the columns out of quality.unique"),
        Code::MergeKeyNotUnique => or("Remove the duplicates in the source", "choose another key in sink.strategy.key"),
        Code::PublicationBaseChanged => format!("Start a new run: `{anew}`."),
        Code::PublicationForeignOverwritten => {
            "Move away what stands in the publication's place, then run what is next.".to_owned()
        }
        Code::CleanupFailed => "Remove what keeps it from being removed, then resume.".to_owned(),
        Code::EvidenceWriteFailed => "Make the evidence folder writable, then resume.".to_owned(),
        Code::StorageNotWritable | Code::StorageFreeSpaceTooSmall => {
            "Make the folder writable, with enough room, then resume.".to_owned()
        }
        Code::TargetClaimedElsewhere => {
            "Wait for that run, or settle it with its own journal; if that journal is gone, see the code's page."
                .to_owned()
        }
        Code::RunAlreadyActive | Code::LeaseLost => {
            "Wait for the other runner, or stop it with SIGTERM and resume.".to_owned()
        }
        Code::JournalWriteFailed => "Look at the journal's disk, then resume.".to_owned(),
        Code::JournalLocked => "End the other process that holds the journal, then resume.".to_owned(),
        Code::JournalReadOnly => "Make the journal and its folder writable, then resume.".to_owned(),
        Code::JournalCorrupt => "Look at what is damaged with `dpone journal verify`.".to_owned(),
        Code::InternalError => "Report it, with the timeline of `dpone journal inspect`.".to_owned(),
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::remedy;
    use crate::codes::{Code, FailureClass};

    #[test]
    fn every_failure_of_a_run_can_be_mended() {
        use FailureClass::{Cleanup, Load, PublicationUnknown, Quality, SourceRange, Upload};
        for code in Code::ALL {
            let class = code.class();
            if matches!(class, SourceRange | Upload | Load | Quality | PublicationUnknown | Cleanup) {
                assert!(remedy(*code, "dpone run m.yaml").is_some_and(|text| text.ends_with('.')), "{code}");
            }
        }
        assert_eq!(remedy(Code::Suspended, ""), None);
        assert_eq!(remedy(Code::RunAbandoned, ""), None);
    }
}
