//! What the target is now. Creates nothing.

use dpone_engine::codes::Code;
use dpone_engine::manifest::StrategyMode;
use dpone_engine::plan::TargetFacts;
use dpone_engine::plan::facts::Former;
use dpone_engine::refusal::Refusal;
use dpone_engine::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use dpone_engine::schema::{LogicalType, Schema};

use super::ParquetTarget;
use super::address::target_name;
use super::pointer::{FileColumn, Pointer, books, columns, newest_pointer, read_pointer, version_of};

/// Bytes that a check needs at least: one batch and one sort buffer.
const CHECK_GRANT: u64 = 4 << 20;

pub(super) fn describe(target: &ParquetTarget, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
    let place = target.root.display().to_string();
    let mut blockers = Vec::new();
    let mut warnings = Vec::new();
    if !matches!(target.mode, StrategyMode::FullRefresh | StrategyMode::Append) {
        let text = format!("the parquet sink cannot {}: its files hold no keys to find rows by", target.mode.as_str());
        let fix = "use `full_refresh` or `append`";
        blockers.push(Refusal::new(Code::StrategyUnsupported, text).at("sink.strategy.mode").fix(fix));
    }
    let current = match newest_pointer(&target.root) {
        Ok(current) => current,
        Err(e) => {
            let text = format!("the dataset's newest manifest cannot be read: {e}");
            let fix = "name a new dataset, or restore the manifest";
            blockers.push(Refusal::new(Code::TargetNotReachable, text).at(&place).fix(fix));
            None
        }
    };
    if target.root.exists() && !target.root.is_dir() {
        let text = "the dataset's address names something that is not a folder";
        blockers.push(Refusal::new(Code::TargetNotReachable, text).at(&place).fix("name another path"));
    } else if current.is_none() && !books(&target.root).exists() && holds_something(&target.root) {
        warnings.push(format!(
            "{place} holds files that are not of a dpone dataset: they stay, and readers that list the folder see them too"
        ));
    }
    if let (StrategyMode::Append, Some(current)) = (target.mode, &current) {
        compare(&columns(schema), current, &place, &mut blockers);
        if let Some(text) = current.damage(&target.root) {
            let fix = "restore those files, or publish every row anew with `full_refresh`";
            blockers.push(Refusal::new(Code::TargetNotReachable, text).at(&place).fix(fix));
        }
    }
    if !blockers.is_empty() {
        return Err(blockers);
    }
    // A former version that cannot be read is left alone.
    let before = current.as_ref().and_then(|c| Some((&c.base, version_of(&c.base).filter(|v| *v > 0)?)));
    let before = before.and_then(|(base, v)| read_pointer(&target.root, v).ok()?.filter(|p| p.identity() == *base));
    Ok(TargetFacts {
        target: target_name(&target.root),
        same_as: None,
        exists: current.is_some(),
        base: current.as_ref().map(Pointer::identity).unwrap_or_default(),
        base_run: current.map(|p| p.run),
        former: before.map(|p| Former { identity: p.identity(), run: p.run }),
        ddl: Vec::new(),
        column_types: schema.columns.iter().map(|c| parquet_type(&c.ty)).collect(),
        publication: PublicationKind::PointerManifest,
        load_isolation: LoadIsolation::Fenced,
        staging_fate: StagingFate::Delivered,
        topologies: vec![Topology::SharedPerRun, Topology::PerPartition],
        atomicity: "pointer manifest: readers of the newest manifest see the former files or the new ones, never a mixture; \
                    the former files stay until the next publication",
        check_grant: CHECK_GRANT,
        warnings,
    })
}

fn holds_something(root: &std::path::Path) -> bool {
    std::fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some())
}

/// Appended files have the dataset's columns, so that one schema reads all of them.
fn compare(new: &[FileColumn], current: &Pointer, place: &str, blockers: &mut Vec<Refusal>) {
    let refuse = |code, text: String, fix: &str| Refusal::new(code, text).at(place).fix(fix);
    let names = |columns: &[FileColumn]| columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    if names(new) != names(&current.schema) {
        let text = format!("the dataset has other columns ({} there, {} read)", current.schema.len(), new.len());
        let fix = "read the dataset's columns in its order with `source.options.columns`, or use `full_refresh`";
        return blockers.push(refuse(Code::TargetColumnsMismatch, text, fix));
    }
    for (new, there) in new.iter().zip(&current.schema) {
        if new.ty != there.ty {
            let text = format!("column {:?} is {} and the dataset holds {}", new.name, new.ty, there.ty);
            let fix = "give the column the dataset's type in `source.options.types`, or use `full_refresh`";
            blockers.push(refuse(Code::TargetTypeNarrowerThanSource, text, fix));
        }
        if new.nullable && !there.nullable {
            let text = format!("column {:?} can be NULL and the dataset's cannot", new.name);
            blockers.push(refuse(Code::NullableSourceIntoNonNullableTarget, text, "use `full_refresh`"));
        }
    }
}

/// A logical type in Parquet's own terms.
fn parquet_type(ty: &LogicalType) -> String {
    match ty {
        LogicalType::Bool => "BOOLEAN".to_owned(),
        LogicalType::Int { bits } => format!("INT({bits}, true)"),
        LogicalType::UInt { bits } => format!("INT({bits}, false)"),
        LogicalType::Float { bits: 32 } => "FLOAT".to_owned(),
        LogicalType::Float { .. } => "DOUBLE".to_owned(),
        LogicalType::Decimal { precision, scale } => format!("DECIMAL({precision}, {scale})"),
        LogicalType::Date => "DATE".to_owned(),
        LogicalType::Time { digits } => format!("TIME({})", unit(*digits)),
        LogicalType::Timestamp { digits, utc } => format!("TIMESTAMP({}, {utc})", unit(*digits)),
        LogicalType::Text => "STRING".to_owned(),
        LogicalType::Binary => "BYTE_ARRAY".to_owned(),
        LogicalType::Uuid => "FIXED_LEN_BYTE_ARRAY(16)".to_owned(),
    }
}

fn unit(digits: u8) -> &'static str {
    if digits <= 6 { "MICROS" } else { "NANOS" }
}
