//! Which settings of two manifests differ in a way that a resumed run must not ignore.

use std::collections::BTreeSet;

use serde_json::Value;
use sqlparser::dialect::{Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::{Manifest, Relation, SourceType};

/// Settings that change nothing about what a run delivers or where its objects are.
const WITHOUT_EFFECT: &[&str] = &[
    // Concurrency shapes no range and no budget: a run that asked too much of its source may resume with less.
    "ranges.reader_workers",
    "ranges.upload_workers",
    "ranges.load_workers",
    "ranges.max_inflight_ranges",
    "runtime.journal",
    "runtime.storage.profile",
    "runtime.storage.work_dir",
    "runtime.storage.evidence_dir",
    "runtime.storage.checkpoint_dir",
    "runtime.storage.debug_dir",
    "runtime.storage.path_template",
    "runtime.storage.create_dirs",
    "runtime.storage.require_writable",
    "runtime.storage.min_free_bytes",
    "runtime.storage.disk_headroom_pct",
    "runtime.storage.cleanup",
    "runtime.storage.transfer_store.cleanup",
    "runtime.storage.transfer_store.multipart",
];

const PARTITIONING: &str = "source.options.partitioning";
const PARALLEL: &str = "source.options.partitioning.range_parallelism";

/// Where the manifest states what the resolved form keeps elsewhere.
fn written_path(path: &str) -> String {
    let Some(name) = path.strip_prefix("ranges.") else {
        return match path {
            "source.relation" => "source".to_owned(),
            "source.text_forms" => "source.options.types".to_owned(),
            "source.columns" | "source.types" => path.replacen("source.", "source.options.", 1),
            "source.connection" | "sink.connection" => path.replacen(".connection", "", 1),
            "chunks.target_bytes" => {
                "source.options.native_transfer.snapshot.physical_chunking.target_chunk_bytes".to_owned()
            }
            "chunks.max_bytes" => {
                "source.options.native_transfer.snapshot.physical_chunking.max_chunk_bytes".to_owned()
            }
            "chunks.max_rows" => "source.options.native_transfer.execution.resource_policy.max_slice_rows".to_owned(),
            _ => path.to_owned(),
        };
    };
    match name {
        "column" | "bounds" | "load_workers" => format!("{PARTITIONING}.{name}"),
        "count" => format!("{PARTITIONING}.num_partitions"),
        "boundary_type" | "bounds_role" | "null_bucket" => format!("{PARTITIONING}.planner.{name}"),
        "planner" => format!("{PARTITIONING}.planner"),
        "scan" => "source.options.native_transfer.snapshot.scan.mode".to_owned(),
        "require_index" => "source.options.native_transfer.snapshot.scan.require_index_for_range".to_owned(),
        _ => format!("{PARALLEL}.{name}"),
    }
}

/// Settings that are named as one, however deep the difference lies: a path into them could name a value.
const WHOLE: &[&str] = &[
    "source.connection",
    "source.relation",
    "source.columns",
    "source.types",
    "source.text_forms",
    "ranges.count",
    "ranges.bounds",
    "ranges.group_key",
    "ranges.planner",
    "sink.connection",
    "sink.table",
    "sink.strategy.key",
    "quality.not_null",
    "quality.unique",
    "quality.custom_sql",
];

impl Manifest {
    /// Paths of the settings that differ from `other` and matter for resuming a run of it, sorted. Never a value.
    ///
    /// Queries that differ only in white space outside literals and quoted names are equal. Worker counts, folders, the
    /// journal's path and cleanup do not matter, so a resumed run takes them from the new manifest; the transfer
    /// store's address does, because a run's objects are there.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let (Ok(mut mine), Ok(theirs)) = (serde_json::to_value(self), serde_json::to_value(other)) else {
            // A manifest without a JSON form cannot be compared, so nothing may be adopted.
            return vec!["manifest".to_owned()];
        };
        let mut paths = BTreeSet::new();
        if self.source.kind == other.source.kind
            && let (Relation::Query(a), Relation::Query(b)) = (&self.source.relation, &other.source.relation)
        {
            if !same_query(a, b, self.source.kind) {
                paths.insert("source.query".to_owned());
            }
            // Judged; what follows must see no difference here.
            mine["source"]["relation"] = theirs["source"]["relation"].clone();
        }
        compare("", &mine, &theirs, &mut paths);
        paths.into_iter().collect()
    }
}

fn compare(path: &str, mine: &Value, theirs: &Value, paths: &mut BTreeSet<String>) {
    if mine == theirs || WITHOUT_EFFECT.contains(&path) {
        return;
    }
    match (mine, theirs) {
        (Value::Object(a), Value::Object(b)) if !WHOLE.contains(&path) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(&below, a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null), paths);
            }
        }
        _ => {
            paths.insert(written_path(path));
        }
    }
}

/// Whether two queries are the same but for white space. Comments count: some are hints.
fn same_query(a: &str, b: &str, kind: SourceType) -> bool {
    if a == b {
        return true;
    }
    let dialect: Box<dyn Dialect> = match kind {
        SourceType::Sqlite => Box::new(SQLiteDialect {}),
        SourceType::Postgres => Box::new(PostgreSqlDialect {}),
        SourceType::Mysql => Box::new(MySqlDialect {}),
        SourceType::Mssql => Box::new(MsSqlDialect {}),
        SourceType::Odbc => Box::new(GenericDialect {}),
        SourceType::Files | SourceType::Mongodb => return false,
    };
    let tokens = |text: &str| {
        let tokens = Tokenizer::new(dialect.as_ref(), text).with_unescape(false).tokenize().ok()?;
        let kept = tokens.into_iter().filter(|token| {
            !matches!(token, Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab))
        });
        Some(kept.collect::<Vec<_>>())
    };
    // Text that cannot be read as tokens is equal only to itself.
    matches!((tokens(a), tokens(b)), (Some(a), Some(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_tokens_is_ignored() {
        for (a, b, same) in [
            ("select a, b from t", "select a,b\n  from\tt ", true),
            ("select 'a  b'", "select 'a b'", false),
            ("select \"a b\"", "select \"a  b\"", false),
            ("select [a b]", "select [a  b]", false),
            ("select `a b`", "select `a  b`", false),
            ("select a -- x\n, b", "select a -- x , b", false),
            ("select /* x */ a", "select /* y */ a", false),
            ("select a b", "select ab", false),
            ("select a from t where x > = 1", "select a from t where x >= 1", false),
            ("select A", "select a", false),
            ("select '", "select  '", false),
            ("select 'it''s'", "select  'it''s'", true),
            ("select 'it''s'", "select  'it'  's'", false),
        ] {
            assert_eq!(same_query(a, b, SourceType::Sqlite), same, "{a} / {b}");
        }
    }
}
