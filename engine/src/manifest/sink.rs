//! The sink side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::connection::{Connection, TableRef};
use super::text_enum::text_enum;

text_enum! {
    /// Kind of sink.
    pub SinkType {
        /// ClickHouse.
        Clickhouse = "clickhouse",
        /// PostgreSQL.
        Postgres = "postgres",
        /// A SQLite database file.
        Sqlite = "sqlite",
        /// A dataset of Parquet files behind one pointer manifest.
        Parquet = "parquet",
    }
}

text_enum! {
    /// What a publication does to the target.
    pub StrategyMode {
        /// The target holds exactly what was read.
        FullRefresh = "full_refresh",
        /// What was read is added.
        Append = "append",
        /// Rows are replaced or added by key.
        Merge = "merge",
        /// The partitions that occur in what was read are replaced; the others stay.
        PartitionReplace = "partition_replace",
    }
}

/// How the one publication changes the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strategy {
    /// What happens to rows that the target already holds.
    pub mode: StrategyMode,
    /// Columns that identify a row, required by `merge`, or a partition, required by `partition_replace`.
    #[serde(default)]
    #[schemars(inner(length(min = 1)), length(max = 64))]
    pub key: Vec<String>,
}

/// The sink of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: SinkType,
    /// How it is reached.
    pub connection: Connection,
    /// The target table; always set except for `parquet`, whose dataset is the address itself.
    pub table: Option<TableRef>,
    /// How the target changes.
    pub strategy: Strategy,
}
