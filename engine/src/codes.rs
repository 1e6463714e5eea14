//! Every code an operator can meet, in one table. The page of each is `docs/errors/<code>.md`; a test keeps the
//! two sets equal, and another requires that each code is produced somewhere.

use serde::{Deserialize, Serialize};

/// The class of a failure, as evidence and `run --format json` name it in `failure_class`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Refused before any source row was read.
    PreflightBlock,
    /// Reading a range failed.
    SourceRange,
    /// Writing an object failed.
    Upload,
    /// Loading into staging failed.
    Load,
    /// A gate on staging failed.
    Quality,
    /// It is not known whether the publication happened.
    PublicationUnknown,
    /// Published; removing something owned failed.
    Cleanup,
    /// The journal refused or failed, or another runner is active.
    Control,
}

macro_rules! codes {
    ($($variant:ident = $text:literal, $class:ident, $summary:literal;)*) => {
        /// A stable code: what scripts match on and pages are named after. Codes are added, never renamed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $summary] $variant,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$variant,)*];

            /// The code as it is printed and journalled.
            pub const fn as_str(self) -> &'static str { match self { $(Code::$variant => $text,)* } }

            /// The class it belongs to.
            pub const fn class(self) -> FailureClass { match self { $(Code::$variant => FailureClass::$class,)* } }

            /// One sentence that says what it means.
            pub const fn summary(self) -> &'static str { match self { $(Code::$variant => $summary,)* } }

            /// The code of that text, if there is one.
            pub fn parse(text: &str) -> Option<Code> { match text { $($text => Some(Code::$variant),)* _ => None } }
        }
    };
}

codes! {
    // Manifest and usage.
    ManifestNotFound = "manifest_not_found", PreflightBlock, "The manifest file cannot be read.";
    ManifestSyntax = "manifest_syntax", PreflightBlock, "The manifest is not valid YAML.";
    ManifestUnknownKey = "manifest_unknown_key", PreflightBlock, "The manifest has a key that does not exist.";
    ManifestInvalidValue = "manifest_invalid_value", PreflightBlock, "A manifest value is missing or not allowed.";
    ManifestSecretInline = "manifest_secret_inline", PreflightBlock, "The manifest holds a credential; credentials come by reference only.";
    RouteUnsupported = "route_unsupported", PreflightBlock, "This build does not have that source, store or sink type.";
    UsageInvalid = "usage_invalid", PreflightBlock, "The command line cannot be understood.";
    OptionConflict = "option_conflict", PreflightBlock, "Two settings contradict each other.";
    ConnectionSettingsInvalid = "connection_settings_invalid", PreflightBlock, "A setting of a connection is missing or not allowed.";
    // Source preflight.
    SourceNotFound = "source_not_found", PreflightBlock, "The source database cannot be opened.";
    OdbcDriverNotFound = "odbc_driver_not_found", PreflightBlock, "The ODBC driver is not installed or cannot be loaded.";
    SourceLocked = "source_locked", PreflightBlock, "Another process holds the source's lock.";
    SourceTableNotFound = "source_table_not_found", PreflightBlock, "The source has no such table or view.";
    SourcePermissionDenied = "source_permission_denied", PreflightBlock, "The connection's user may not read the source.";
    SourceStatsLowConfidence = "source_stats_low_confidence", PreflightBlock, "The source has no statistics of the range column that can be trusted.";
    SourceColumnNotFound = "source_column_not_found", PreflightBlock, "The source has no such column.";
    SourceQueryInvalid = "source_query_invalid", PreflightBlock, "The source query cannot be parsed or prepared.";
    DuplicateColumnName = "duplicate_column_name", PreflightBlock, "Two columns of the source have the same name.";
    UnnamedColumn = "unnamed_column", PreflightBlock, "A column of the source query has no name.";
    UnsupportedType = "unsupported_type", PreflightBlock, "A source type has no exact form here.";
    UnconstrainedNumericRequiresType = "unconstrained_numeric_requires_type", PreflightBlock, "A numeric column has no stated precision and scale.";
    ColumnTypeUndeclared = "column_type_undeclared", PreflightBlock, "The source declares no type for a column.";
    UnsupportedBoundaryType = "unsupported_boundary_type", PreflightBlock, "The partition column's type cannot be split into ranges here.";
    RangeInvalid = "range_invalid", PreflightBlock, "The stated ranges or bounds overlap, are unsorted, or leave a gap.";
    RangeRequiresIndex = "range_requires_index", PreflightBlock, "A range scan of this source would read the whole table once per range.";
    ConsistencyModeUnsupported = "consistency_mode_unsupported", PreflightBlock, "The source cannot give that consistency.";
    ConsistencyAuthorityMissing = "consistency_authority_missing", PreflightBlock, "The consistency mode needs an authority that the manifest does not name.";
    GroupIntegrityUnproven = "group_integrity_unproven", PreflightBlock, "A range boundary could split a declared group.";
    WindowFunctionUnproven = "window_function_unproven", PreflightBlock, "A query with a window function cannot be split into ranges without a group key.";
    StagingTopologyUnsupported = "staging_topology_unsupported", PreflightBlock, "The sink cannot stage ranges that way.";
    SharedStagingRequiresSingleLoader = "shared_staging_requires_single_loader", PreflightBlock, "shared_per_run staging loads one range at a time.";
    ColumnarRangePreReadByteAdmissionUnavailable = "columnar_range_pre_read_byte_admission_unavailable", PreflightBlock, "This driver buffers rows before their bytes can be admitted.";
    BudgetTooSmall = "budget_too_small", PreflightBlock, "The byte budget cannot hold one batch of every concurrent reader.";
    // Target and storage preflight.
    TargetNotReachable = "target_not_reachable", PreflightBlock, "The target cannot be opened.";
    TargetTypeNarrowerThanSource = "target_type_narrower_than_source", PreflightBlock, "An existing target column cannot hold every source value exactly.";
    NullableSourceIntoNonNullableTarget = "nullable_source_into_non_nullable_target", PreflightBlock, "An existing target column refuses NULL and the source column allows it.";
    TargetColumnsMismatch = "target_columns_mismatch", PreflightBlock, "The existing target and the source have different columns.";
    TargetTriggerUnsupported = "target_trigger_unsupported", PreflightBlock, "The existing target has triggers, which a publication would fire or lose.";
    StrategyUnsupported = "strategy_unsupported", PreflightBlock, "The sink cannot publish that way.";
    StrategyKeyMissing = "strategy_key_missing", PreflightBlock, "The strategy needs a key, or names one that is not a column.";
    StorageNotWritable = "storage_not_writable", PreflightBlock, "A storage folder cannot be written.";
    StorageFreeSpaceTooSmall = "storage_free_space_too_small", PreflightBlock, "A storage folder has less free space than the manifest demands.";
    // Reading.
    SourceValueTypeMismatch = "source_value_type_mismatch", SourceRange, "A cell is not of its column's declared type.";
    InvalidTextEncoding = "invalid_text_encoding", SourceRange, "A text cell is not valid in its encoding.";
    OdbcValueTruncated = "odbc_value_truncated", SourceRange, "A driver delivered only a part of a value.";
    DecimalNotFinite = "decimal_not_finite", SourceRange, "A decimal is NaN or infinite.";
    DecimalScaleOverflow = "decimal_scale_overflow", SourceRange, "A decimal has more digits after the point than its column.";
    DecimalOverflow = "decimal_overflow", SourceRange, "A decimal has more digits before the point than its column.";
    DateOutOfRange = "date_out_of_range", SourceRange, "A date or timestamp is infinite or outside of the years 0001 to 9999.";
    SourceChangedDuringOpen = "source_changed_during_open", SourceRange, "The source kept changing while the readers were opened.";
    SourceReadFailed = "source_read_failed", SourceRange, "Reading a range failed.";
    SourceSchemaChanged = "source_schema_changed", SourceRange, "The source's schema is not the one that was planned.";
    PhysicalChunkRowExceedsMaxBytes = "physical_chunk_row_exceeds_max_bytes", SourceRange, "One row is larger than the byte budget.";
    RangeCoverageMismatch = "range_coverage_mismatch", SourceRange, "The ranges together do not hold the rows that the table holds.";
    ConsistencyAuthorityLost = "consistency_authority_lost", SourceRange, "The source state that the run was reading is gone.";
    // Objects.
    ObjectUploadFailed = "object_upload_failed", Upload, "An object could not be written.";
    ObjectUploadUnconfirmed = "object_upload_unconfirmed", Upload, "It cannot be shown that an object was written whole.";
    ObjectKeyConflict = "object_key_conflict", Upload, "Another object stands under a key of this run.";
    ObjectLost = "object_lost", Upload, "An object that was written is gone or differs.";
    ObjectReadFailed = "object_read_failed", Upload, "An object that was written cannot be read now.";
    SpoolDiskFull = "spool_disk_full", Upload, "The disk of the transfer store or the journal's folder is full.";
    // Loading.
    StagingNameConflict = "staging_name_conflict", Load, "A staging name of this run is taken by something else.";
    LoadFailed = "load_failed", Load, "Loading a range into staging failed.";
    LoadOutcomeUnknown = "load_outcome_unknown", Load, "It is not known whether a range was loaded.";
    LoadCountMismatch = "load_count_mismatch", Load, "Staging holds another number of rows than was sent.";
    FloatNotFiniteUnsupportedByTarget = "float_not_finite_unsupported_by_target", Load, "The target cannot hold a NaN or infinite float.";
    FloatNegativeZeroUnsupportedByTarget = "float_negative_zero_unsupported_by_target", Load, "The target cannot tell -0.0 from 0.0.";
    TextUnsupportedByTarget = "text_unsupported_by_target", Load, "The target cannot hold a text: it has a zero byte, or a character that its encoding lacks.";
    TargetDiskFull = "target_disk_full", Load, "The target's disk is full.";
    TargetLocked = "target_locked", Load, "Another process holds the target's lock.";
    // Quality.
    QualityMinRows = "quality_min_rows", Quality, "Fewer rows than the manifest demands.";
    QualityNotNull = "quality_not_null", Quality, "A column that must not be NULL holds NULL.";
    QualityUnique = "quality_unique", Quality, "A column that must be unique holds a value twice.";
    FidelityMismatch = "fidelity_mismatch", Quality, "What staging holds differs from what was read.";
    MergeKeyNotUnique = "merge_key_not_unique", Quality, "The merge key occurs twice, or is NULL, in what was read.";
    // Publication.
    PublicationFailed = "publication_failed", Quality, "The publication was refused; the target is unchanged.";
    PublicationOutcomeUnknown = "publication_outcome_unknown", PublicationUnknown, "It is not known whether the publication happened.";
    PublicationBaseChanged = "publication_base_changed", Quality, "Someone else changed the target since this run looked at it.";
    PublicationForeignOverwritten = "publication_foreign_overwritten", PublicationUnknown, "Something else stands where this run's publication was.";
    // Cleanup and evidence.
    CleanupFailed = "cleanup_failed", Cleanup, "Something that this run owns could not be removed.";
    EvidenceWriteFailed = "evidence_write_failed", Cleanup, "The evidence document could not be written.";
    // Control.
    RunAlreadyActive = "run_already_active", Control, "Another runner is working on this manifest or target.";
    TargetClaimedElsewhere = "target_claimed_elsewhere", Control, "Another journal's run has claimed this target.";
    LeaseLost = "lease_lost", Control, "Another runner took this run over.";
    EffectAbandoned = "effect_abandoned", Control, "An effect's runner ended before the effect did; it did not happen.";
    RunUnsettled = "run_unsettled", PreflightBlock, "An earlier run on this target has not been settled.";
    RunNotFound = "run_not_found", PreflightBlock, "The journal has no such run.";
    ResumePlanMismatch = "resume_plan_mismatch", PreflightBlock, "The manifest, the source schema or the target changed since the run was planned.";
    RunAbandoned = "run_abandoned", Control, "An operator abandoned the run before publication.";
    JournalLocked = "journal_locked", Control, "Another process holds the journal's lock.";
    JournalWriteFailed = "journal_write_failed", Control, "The journal could not be written.";
    JournalReadOnly = "journal_read_only", Control, "The journal or its folder cannot be written.";
    JournalCorrupt = "journal_corrupt", Control, "The journal is damaged.";
    JournalNewer = "journal_newer", Control, "The journal was written by a newer dpone.";
    JournalNotFound = "journal_not_found", PreflightBlock, "There is no journal at that path.";
    JournalNetworkFileSystem = "journal_network_file_system", PreflightBlock, "The journal is on a network file system.";
    OutputNotWritten = "output_not_written", Control, "A result could not be written to stdout.";
    Suspended = "suspended", Control, "The run was suspended by a signal and can be resumed.";
    InternalError = "internal_error", Control, "dpone itself is wrong; please report it.";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("no such code"))
    }
}
