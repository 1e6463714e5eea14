//! What plans are made from.

use dpone_engine::manifest::parse_with_notices;
use dpone_engine::plan::{Blocked, Context, Plan, RelationKind, SourceFacts, TargetFacts, build};
use dpone_engine::ranges::KeyFacts;
use dpone_engine::run::facts::{LoadIsolation, PublicationKind, StagingFate, Topology};
use dpone_engine::schema::{Column, LogicalType, Schema};
use dpone_engine::value::Value;

/// A complete manifest, to be changed by the tests.
pub(crate) const BASE: &str = "\
name: orders
source:
  type: sqlite
  path: shop.db
  table: {name: orders}
  options:
    columns: [id, amount, note]
    partitioning:
      column: id
      num_partitions: 4
      load_workers: 1
      range_parallelism:
        mode: required
        reader_workers: 3
        upload_workers: 2
        max_inflight_rows: 40000
        max_inflight_bytes: 64MiB
sink:
  type: sqlite
  path: dwh.db
  table: {name: orders}
  strategy: {mode: full_refresh}
quality: {min_rows: 1, not_null: [id], unique: [id]}
";

/// What is planned from.
pub(crate) struct World {
    pub(crate) manifest: String,
    pub(crate) source: SourceFacts,
    pub(crate) target: TargetFacts,
    pub(crate) context: Context,
}

impl World {
    pub(crate) fn new() -> Self {
        let column = |name: &str, ty, nullable, declared: &str| Column {
            name: name.into(),
            ty,
            nullable,
            declared: declared.into(),
        };
        let schema = Schema {
            columns: vec![
                column("id", LogicalType::Int { bits: 64 }, false, "INTEGER"),
                column("amount", LogicalType::Decimal { precision: 12, scale: 2 }, true, "DECIMAL(12,2)"),
                column("note", LogicalType::Text, true, "TEXT"),
            ],
        };
        Self {
            manifest: BASE.to_owned(),
            source: SourceFacts {
                schema,
                relation: RelationKind::Table,
                view_sql: Vec::new(),
                key_column: None,
                key_refused: None,
                key: Some(KeyFacts {
                    extent: Some((Value::Int(1), Value::Int(1000))),
                    rows: Some(1000),
                    ..KeyFacts::default()
                }),
                key_indexed: true,
                as_target: None,
                same_as: None,
                max_sessions: 64,
                min_grant: 1 << 20,
                warnings: Vec::new(),
            },
            target: TargetFacts {
                target: "sqlite:/data/dwh.db#orders".into(),
                same_as: None,
                exists: false,
                base: String::new(),
                base_run: None,
                former: None,
                ddl: vec!["CREATE TABLE \"orders\" (\"id\" INTEGER NOT NULL, \"amount\" TEXT, \"note\" TEXT)".into()],
                column_types: vec!["INTEGER".into(), "TEXT".into(), "TEXT".into()],
                publication: PublicationKind::LedgerTransaction,
                load_isolation: LoadIsolation::Fenced,
                staging_fate: StagingFate::Removed,
                topologies: vec![Topology::SharedPerRun, Topology::PerPartition],
                atomicity: "one transaction: readers see the former rows or the new ones",
                check_grant: 4 << 20,
                warnings: Vec::new(),
            },
            context: Context {
                journal_key: [7; 32],
                base_owner: None,
                owns_former: false,
                manifest_file: None,
                notices: Vec::new(),
            },
        }
    }

    /// With parts of the manifest replaced; each must stand in it once.
    pub(crate) fn with(changes: &[(&str, &str)]) -> Self {
        let mut world = Self::new();
        for (from, to) in changes {
            assert_eq!(world.manifest.matches(from).count(), 1, "`{from}` must stand once in the manifest");
            world.manifest = world.manifest.replace(from, to);
        }
        world
    }

    pub(crate) fn build(&self) -> Result<Plan, Box<Blocked>> {
        let parsed = parse_with_notices(&self.manifest, "orders.yaml").unwrap_or_else(|e| panic!("{e:?}"));
        let context = Context { notices: parsed.notices, ..self.context.clone() };
        build(&parsed.manifest, &self.source, &self.target, &context)
    }

    #[track_caller]
    pub(crate) fn plan(&self) -> Plan {
        self.build().unwrap_or_else(|blocked| panic!("{:?}", blocked.blockers))
    }
}
