//! What adapters find out before a run exists. Preflight reads catalogs, bounds and authorities, never rows.

use serde::{Deserialize, Serialize};

use crate::ranges::KeyFacts;
use crate::refusal::Refusal;
use crate::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use crate::schema::{Column, Schema};

/// What kind of thing is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// A base table.
    Table,
    /// A view.
    View,
    /// A query of the manifest.
    Query,
}

/// What a source's preflight found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFacts {
    /// The columns to deliver, in order, with exact types.
    pub schema: Schema,
    /// What kind of thing is read.
    pub relation: RelationKind,
    /// The table that is read, as [`TargetFacts::target`] would name it; `None` where it is no table that a sink could have.
    pub as_target: Option<String>,
    /// What the server says that table is, whatever address it was reached by; see [`TargetFacts::same_as`].
    pub same_as: Option<String>,
    /// The statements that define the view and every view below it, as the catalog keeps them; empty otherwise. A view
    /// without its text counts as one with a window function.
    pub view_sql: Vec<String>,
    /// The range column, delivered or not, if one was named.
    pub key_column: Option<Column>,
    /// Why ranges of that column cannot be planned, if so; `required` is then blocked and `auto` reads one range.
    pub key_refused: Option<Refusal>,
    /// What the range column holds, if one was named.
    pub key: Option<KeyFacts>,
    /// Whether a range of the range column can be sought through an index, so that a range is not a full scan.
    pub key_indexed: bool,
    /// Sessions that may be open on one state at the same time.
    pub max_sessions: u32,
    /// The least grant, in bytes, that a reader of this schema can work with.
    pub min_grant: u64,
    /// Conditions that an operator should know of and that stop nothing.
    pub warnings: Vec<String>,
}

/// A content that the target no longer shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Former {
    /// Its identity.
    pub identity: String,
    /// The run that published it.
    pub run: String,
}

/// What a sink's preflight found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFacts {
    /// The target as the operator knows it and as rivals must agree on it: an absolute path or address and a name.
    pub target: String,
    /// What its server says it is, whatever address it was reached by; `None` where it does not exist, or where its address
    /// is its only one.
    pub same_as: Option<String>,
    /// Whether the target exists.
    pub exists: bool,
    /// The identity of its present content, empty if there is none; a publication must find it unchanged.
    pub base: String,
    /// The run that published that content, where the target says so.
    pub base_run: Option<String>,
    /// The content before that one, where the target still has it: its readers have had until now, so whoever publishes next
    /// removes it.
    pub former: Option<Former>,
    /// The statements that would create it, for the plan.
    pub ddl: Vec<String>,
    /// What each column becomes, in the target's own terms, by schema order.
    pub column_types: Vec<String>,
    /// How it publishes.
    pub publication: PublicationKind,
    /// What a doubtful load leaves behind.
    pub load_isolation: LoadIsolation,
    /// What becomes of staging then.
    pub staging_fate: StagingFate,
    /// The topologies it supports.
    pub topologies: Vec<Topology>,
    /// What readers of the target can see during a publication, as the plan states it (`publication_atomicity`).
    pub atomicity: &'static str,
    /// Bytes that a check needs besides the data plane.
    pub check_grant: u64,
    /// Conditions that an operator should know of and that stop nothing.
    pub warnings: Vec<String>,
}
