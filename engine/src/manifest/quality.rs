//! What staging must show before it may be published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;

text_enum! {
    /// How exactly staging is compared with what was read.
    #[derive(Default)]
    pub Fidelity {
        /// Not compared. Evidence says so.
        Off = "off",
        /// Row counts per range.
        Counts = "counts",
        /// Row counts, and per column NULL count, minimum and maximum.
        Columns = "columns",
        /// All of `columns`, and an order-independent checksum over whole rows.
        #[default]
        Rows = "rows",
    }
}

/// Gates on staging. All of them pass before the one publication.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Quality {
    /// The run fails with fewer rows than this. Default 0: an empty source is published empty.
    pub min_rows: u64,
    /// Columns that must not hold NULL.
    #[schemars(inner(length(min = 1)), length(max = 1024))]
    pub not_null: Vec<String>,
    /// Columns each of which must hold no value twice.
    #[schemars(inner(length(min = 1)), length(max = 1024))]
    pub unique: Vec<String>,
    /// How exactly staging is compared with what was read. Default `rows`.
    pub fidelity: Fidelity,
    /// Queries to run on staging. Not available in this build; must be empty.
    #[schemars(inner(length(min = 1)), length(max = 64))]
    pub custom_sql: Vec<String>,
}
