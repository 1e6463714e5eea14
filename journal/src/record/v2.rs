//! Version 2, of the records that have one.

use wincode::{SchemaRead, SchemaWrite};

use super::v1;

/// `Planned`: version 1, and what is removed after the publication.
#[derive(Debug, SchemaWrite, SchemaRead)]
pub(crate) struct Planned {
    pub(crate) first: v1::Planned,
    pub(crate) superseded: Option<String>,
}

/// In version 1 the run removed the content that it replaced, if a run of its journal had published that.
impl From<v1::Planned> for Planned {
    fn from(first: v1::Planned) -> Self {
        let superseded = first.base_owner.as_ref().map(|_| first.base_identity.clone());
        Self { first, superseded }
    }
}
