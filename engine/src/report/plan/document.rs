//! The JSON object of `dpone plan --format json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::manifest::{
    Connection, Consistency, Quality, Relation, SinkType, Source, SourceType, StagingTopology, Strategy, TableRef,
};
use crate::plan::{Blocked, BudgetPlan, Concurrency, Coverage, Finding, Plan, RelationKind};
use crate::refusal::Refusal;
use crate::report::policy::PolicyView;
use crate::report::range::{RangeView, boundary_family};
use crate::run::facts::PublicationKind;

/// The schema id.
const SCHEMA: &str = "dpone.plan.v1";

/// A plan, or every reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanDocument {
    /// `dpone.plan.v1`.
    pub schema: &'static str,
    /// The manifest's name; null if it could not be read.
    pub manifest: Option<String>,
    /// Whether the manifest cannot be run as it stands.
    pub blocked: bool,
    /// Why not; empty for a plan.
    pub blockers: Vec<BlockerView>,
    /// SHA-256 of everything that determines what is delivered; null if blocked.
    pub fingerprint: Option<String>,
    /// What preflight found on the source's side; null if blocked.
    pub source_facts: Option<SourceFactsView>,
    /// What each column becomes; empty if blocked.
    pub type_mapping: Vec<TypeMapping>,
    /// How rows travel.
    pub columnar_fast_path: FastPath,
    /// The target; null if blocked.
    pub target: Option<TargetView>,
    /// The statements that would create the target; empty if it exists.
    pub ddl: Vec<String>,
    /// What readers of the target can see during the publication; null if blocked.
    pub publication_atomicity: Option<String>,
    /// What staging must show before publication; null if blocked.
    pub quality: Option<Quality>,
    /// What an operator should know of and that stops nothing.
    pub warnings: Vec<Finding>,
}

/// One reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockerView {
    /// The stable code.
    pub code: String,
    /// One sentence that says what was found.
    pub message: String,
    /// Where.
    pub place: Option<String>,
    /// What to do.
    pub fix: Option<String>,
}

/// What preflight found on the source's side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceFactsView {
    /// The source's type.
    #[serde(rename = "type")]
    pub kind: SourceType,
    /// What is read and how it is reached, as the manifest says it.
    pub reads: String,
    /// What kind of thing is read.
    #[schemars(with = "String")]
    pub relation: RelationKind,
    /// How many rows it has, exactly or by estimate.
    pub rows: Option<u64>,
    /// How many columns are delivered.
    pub columns: usize,
    /// The range column.
    pub key_column: Option<String>,
    /// Whether a range of it can be sought through an index; null without one.
    pub key_indexed: Option<bool>,
}

/// What one column becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TypeMapping {
    /// The column.
    pub column: String,
    /// Its type as the source declares it.
    pub source: String,
    /// Its exact logical type.
    pub logical: String,
    /// Whether NULL can occur.
    pub nullable: bool,
    /// Its type in the target.
    pub target: String,
}

/// How rows travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FastPath {
    /// What reads the source and makes Parquet of it; null if blocked.
    pub provider: Option<String>,
    /// Its parts.
    pub details: FastPathDetails,
}

/// The parts of the columnar path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FastPathDetails {
    /// The ranges and their limits.
    pub range_parallelism: RangeParallelism,
}

/// The ranges and their limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RangeParallelism {
    /// The normalized policy; null if the manifest could not be read.
    pub policy: Option<PolicyView>,
    /// SHA-256 of the policy; null if blocked.
    pub policy_fingerprint: Option<String>,
    /// SHA-256 of the plan; null if blocked.
    pub plan_fingerprint: Option<String>,
    /// How many ranges are planned; 0 if blocked.
    pub planned_range_count: usize,
    /// What the manifest asks for, and what the run works with; null if blocked.
    pub concurrency: Option<ConcurrencyView>,
    /// The budget's arithmetic; null if blocked.
    pub budget: Option<BudgetPlan>,
    /// Where ranges are staged; null if blocked.
    pub topology: Option<StagingTopology>,
    /// What makes readers see one state.
    pub consistency: Option<Consistency>,
    /// Against what the ranges' rows are counted, or that the count is waived; null if blocked.
    pub coverage: Option<Coverage>,
    /// The family of the boundaries' values; null with one range.
    pub boundary_family: Option<String>,
    /// The ranges.
    pub ranges: Vec<RangeView>,
    /// Why there is no plan.
    pub blockers: Vec<BlockerView>,
    /// What an operator should know of.
    pub warnings: Vec<Finding>,
    /// Why ranges are not read in parallel under mode `auto`; empty if they are.
    pub fallback: Vec<Finding>,
}

/// What the manifest asks for, and what the run works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConcurrencyView {
    /// What the manifest asks for.
    pub requested: Concurrency,
    /// What the run works with.
    pub planned: Concurrency,
}

/// The target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TargetView {
    /// The sink's type.
    #[serde(rename = "type")]
    pub kind: SinkType,
    /// The target as rivals must agree on it.
    pub target: String,
    /// Whether it exists.
    pub exists: bool,
    /// What a publication does to it.
    pub strategy: Strategy,
    /// How it publishes.
    #[schemars(with = "String")]
    pub publication: PublicationKind,
}

impl From<&Refusal> for BlockerView {
    fn from(r: &Refusal) -> Self {
        Self { code: r.code.to_string(), message: r.message.clone(), place: r.place.clone(), fix: r.fix.clone() }
    }
}

/// The document of a plan. Boundaries are committed to under `key`, and shown only if asked for.
pub fn document(plan: &Plan, key: &[u8; 32], show_values: bool) -> PlanDocument {
    let manifest = &plan.manifest;
    let show = plan.key.as_ref().filter(|_| show_values).map(|column| &column.ty);
    let range_parallelism = RangeParallelism {
        policy: Some(PolicyView::from(&manifest.ranges)),
        policy_fingerprint: Some(plan.policy_fingerprint.clone()),
        plan_fingerprint: Some(plan.fingerprint.clone()),
        planned_range_count: plan.ranges.len(),
        concurrency: Some(ConcurrencyView { requested: plan.requested, planned: plan.concurrency }),
        budget: Some(plan.budget),
        topology: Some(plan.topology),
        consistency: Some(manifest.ranges.consistency),
        coverage: Some(plan.coverage),
        boundary_family: plan.key.as_ref().map(|column| boundary_family(&column.ty).to_owned()),
        ranges: plan.ranges.iter().map(|range| RangeView::of(range, key, show)).collect(),
        blockers: Vec::new(),
        warnings: plan.warnings.clone(),
        fallback: plan.fallback.clone(),
    };
    PlanDocument {
        schema: SCHEMA,
        manifest: Some(manifest.name.clone()),
        blocked: false,
        blockers: Vec::new(),
        fingerprint: Some(plan.fingerprint.clone()),
        source_facts: Some(SourceFactsView {
            kind: manifest.source.kind,
            reads: reads(&manifest.source),
            relation: plan.relation,
            rows: plan.source_rows,
            columns: plan.schema.columns.len(),
            key_column: plan.key.as_ref().map(|column| column.name.clone()),
            key_indexed: plan.key.as_ref().map(|_| plan.key_indexed),
        }),
        type_mapping: mapping(plan),
        columnar_fast_path: FastPath {
            provider: Some(provider(manifest.source.kind).to_owned()),
            details: FastPathDetails { range_parallelism },
        },
        target: Some(TargetView {
            kind: manifest.sink.kind,
            target: plan.target.target.clone(),
            exists: plan.target.exists,
            strategy: manifest.sink.strategy.clone(),
            publication: plan.target.publication,
        }),
        ddl: ddl(plan).to_vec(),
        publication_atomicity: Some(plan.target.atomicity.clone()),
        quality: Some(manifest.quality.clone()),
        warnings: plan.warnings.clone(),
    }
}

/// The provider's id, as scripts know it.
const fn provider(kind: SourceType) -> &'static str {
    match kind {
        SourceType::Sqlite => "sqlite_arrow_parquet",
        SourceType::Postgres => "postgres_copy_arrow_parquet",
        SourceType::Mysql => "mysql_arrow_parquet",
        SourceType::Mssql => "mssql_odbc_arrow_parquet",
        SourceType::Odbc => "odbc_arrow_parquet",
        SourceType::Files => "files_arrow_parquet",
        SourceType::Mongodb => "mongodb_arrow_parquet",
    }
}

/// The document that says why there is no plan.
pub fn blocked(blocked: &Blocked) -> PlanDocument {
    let blockers: Vec<BlockerView> = blocked.blockers.iter().map(BlockerView::from).collect();
    let range_parallelism = RangeParallelism {
        policy: blocked.policy.as_ref().map(PolicyView::from),
        policy_fingerprint: None,
        plan_fingerprint: None,
        planned_range_count: 0,
        concurrency: None,
        budget: None,
        topology: None,
        consistency: blocked.policy.as_ref().map(|p| p.consistency),
        coverage: None,
        boundary_family: None,
        ranges: Vec::new(),
        blockers: blockers.clone(),
        warnings: blocked.warnings.clone(),
        fallback: Vec::new(),
    };
    PlanDocument {
        schema: SCHEMA,
        manifest: blocked.manifest.clone(),
        blocked: true,
        blockers,
        fingerprint: None,
        source_facts: None,
        type_mapping: Vec::new(),
        columnar_fast_path: FastPath { provider: None, details: FastPathDetails { range_parallelism } },
        target: None,
        ddl: Vec::new(),
        publication_atomicity: None,
        quality: None,
        warnings: blocked.warnings.clone(),
    }
}

/// The statements that create the target. One that exists keeps its definition.
pub(super) fn ddl(plan: &Plan) -> &[String] {
    if plan.target.exists { &[] } else { &plan.target.ddl }
}

/// What is read and how it is reached. A query may hold values, so it is not repeated.
pub(super) fn reads(source: &Source) -> String {
    let what = match &source.relation {
        Relation::Table(TableRef { database, schema, name }) => {
            let parts = [database.as_deref(), schema.as_deref(), Some(name.as_str())];
            parts.into_iter().flatten().collect::<Vec<_>>().join(".")
        }
        Relation::Query(_) => "a query".to_owned(),
    };
    let from = match &source.connection {
        Connection::Path(path) => format!("in {path}"),
        Connection::Uri(uri) => format!("in {uri}"),
        Connection::Reference { connection_id, .. } => format!("by connection {connection_id}"),
        Connection::Settings(settings) => {
            let host = settings.host.as_deref().or(settings.endpoint_url.as_deref()).unwrap_or("its default host");
            let port = settings.port.map(|port| format!(":{port}")).unwrap_or_default();
            let database = settings.database.as_deref().map(|name| format!("/{name}")).unwrap_or_default();
            format!("at {host}{port}{database}")
        }
    };
    format!("{what} {from}")
}

pub(super) fn mapping(plan: &Plan) -> Vec<TypeMapping> {
    let target = plan.target.column_types.iter().map(String::as_str).chain(std::iter::repeat(""));
    let columns = plan.schema.columns.iter().zip(target);
    columns
        .map(|(column, target)| TypeMapping {
            column: column.name.clone(),
            source: column.declared.clone(),
            logical: column.ty.to_string(),
            nullable: column.nullable,
            target: target.to_owned(),
        })
        .collect()
}
