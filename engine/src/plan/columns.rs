//! Every column that the manifest names must be one that is delivered.

use super::facts::SourceFacts;
use super::shape::key_column;
use crate::codes::Code;
use crate::manifest::{Manifest, RangeMode, StrategyMode};
use crate::refusal::Refusal;

pub(super) fn check(manifest: &Manifest, source: &SourceFacts, blockers: &mut Vec<Refusal>) {
    let mut need = |code: Code, name: &str, place: String| {
        if source.schema.column(name).is_none() {
            let near = nearest(name, source).map_or_else(String::new, |near| format!(" Did you mean \"{near}\"?"));
            blockers.push(
                Refusal::new(code, format!("\"{name}\" is not a column that is read"))
                    .at(place)
                    .fix(format!("Name a column of the source, or add it to source.options.columns.{near}")),
            );
        }
    };
    let policy = &manifest.ranges;
    if policy.mode != RangeMode::Off {
        let at = "source.options.partitioning";
        // Where the source says why its key cannot be cut, the key was found.
        let named = policy.column.as_ref().filter(|_| source.key_refused.is_none());
        if let Some(column) = named.filter(|name| key_column(name, source).is_none()) {
            need(Code::SourceColumnNotFound, column, format!("{at}.column"));
        }
        for (i, name) in policy.group_key.iter().enumerate() {
            need(Code::SourceColumnNotFound, name, format!("{at}.range_parallelism.group_key[{i}]"));
        }
    }
    for (i, name) in manifest.quality.not_null.iter().enumerate() {
        need(Code::SourceColumnNotFound, name, format!("quality.not_null[{i}]"));
    }
    for (i, name) in manifest.quality.unique.iter().enumerate() {
        need(Code::SourceColumnNotFound, name, format!("quality.unique[{i}]"));
    }
    let strategy = &manifest.sink.strategy;
    for (i, name) in strategy.key.iter().enumerate() {
        need(Code::StrategyKeyMissing, name, format!("sink.strategy.key[{i}]"));
    }
    let needs = match strategy.mode {
        StrategyMode::Merge => Some("merge needs the columns that identify a row"),
        StrategyMode::PartitionReplace => Some("partition_replace needs the columns that make a partition"),
        StrategyMode::FullRefresh | StrategyMode::Append => None,
    };
    if let Some(text) = needs.filter(|_| strategy.key.is_empty()) {
        blockers.push(
            Refusal::new(Code::StrategyKeyMissing, text).at("sink.strategy.key").fix("List them in sink.strategy.key."),
        );
    }
}

/// A column whose name differs little, as a hint.
fn nearest<'a>(name: &str, source: &'a SourceFacts) -> Option<&'a str> {
    let names = source.schema.columns.iter().map(|column| column.name.as_str());
    let scored = names.map(|other| (strsim::jaro_winkler(name, other), other)).filter(|(score, _)| *score > 0.8);
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other)
}
