//! Both sides' preflight, and the plan that follows from it. No side effects.

use std::path::PathBuf;

use dpone_adapters::any::AnyTarget;
use dpone_adapters::sqlite_source::{self, SqliteRequest};
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Connection, Manifest, RangeMode};
use dpone_engine::plan::{Blocked, Context, Plan, build};
use dpone_engine::refusal::Refusal;

use super::Loaded;

/// Plans a manifest. `owns` says whether a run of that id is in the journal.
pub(crate) fn preflight(loaded: &Loaded, key: [u8; 32], owns: impl Fn(&str) -> bool) -> Result<Plan, Box<Blocked>> {
    let manifest = &loaded.manifest;
    let by = |refusals| Box::new(Blocked { manifest: Some(manifest.name.clone()), ..Blocked::by(refusals) });
    let source = sqlite_source::describe(&request(manifest).map_err(|r| by(vec![r]))?).map_err(by)?;
    let target = AnyTarget::of(&manifest.sink).map_err(|r| by(vec![r]))?;
    let target = target.describe(&source.schema).map_err(by)?;
    let base_owner = target.base_run.clone().filter(|run| owns(run));
    let (manifest_file, notices) = (Some(loaded.name.clone()), loaded.notices.clone());
    let context = Context { journal_key: key, base_owner, manifest_file, notices };
    build(manifest, &source, &target, &context)
}

/// What the source is asked for.
pub(crate) fn request(manifest: &Manifest) -> Result<SqliteRequest, Refusal> {
    let Connection::Path(path) = &manifest.source.connection else {
        return Err(Refusal::new(Code::ManifestInvalidValue, "a sqlite source needs path").at("source.path"));
    };
    Ok(SqliteRequest {
        path: PathBuf::from(path),
        relation: manifest.source.relation.clone(),
        columns: manifest.source.columns.clone(),
        types: manifest.source.types.clone(),
        // With one range nothing is asked of the column.
        key: manifest.ranges.column.clone().filter(|_| manifest.ranges.mode != RangeMode::Off),
    })
}
