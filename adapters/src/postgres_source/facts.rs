//! What the catalog says of a relation, before the manifest has its say.

use dpone_engine::plan::facts::RelationKind;

use super::types::{CatalogType, Database};

/// One column of the relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogColumn {
    pub(super) name: String,
    pub(super) ty: CatalogType,
    pub(super) not_null: bool,
    /// How it is named in a statement.
    pub(super) expression: String,
    /// Its collation as a statement names it, where it has one.
    pub(super) collation: Option<String>,
}

/// A table or view of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogTable {
    pub(super) oid: u32,
    pub(super) schema: String,
    pub(super) name: String,
    /// `relkind`.
    pub(super) kind: char,
    /// Whether other tables inherit from it or are its partitions.
    pub(super) has_children: bool,
}

/// The relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Catalog {
    pub(super) kind: RelationKind,
    /// Where it is in the catalog; a query is nowhere.
    pub(super) table: Option<CatalogTable>,
    pub(super) columns: Vec<CatalogColumn>,
    /// What follows `FROM`.
    pub(super) from: String,
    pub(super) database: Database,
}
