//! Both sides' preflight, and the plan that follows from it. No side effects.

use dpone_adapters::any::{AnyRequest, AnyTarget};
use dpone_engine::codes::Code;
use dpone_engine::manifest::{Manifest, SinkType};
use dpone_engine::plan::{Blocked, Context, Plan, SourceFacts, TargetFacts, build};
use dpone_engine::refusal::Refusal;
use dpone_engine::schema::{Column, Schema};
use dpone_journal::sqlite::Journal;

use super::Loaded;

/// Plans a manifest. `owns` says whether a run of that id in the journal published the content of that identity.
pub(crate) fn preflight(
    loaded: &Loaded,
    key: [u8; 32],
    owns: impl Fn(&str, &str) -> bool,
) -> Result<Plan, Box<Blocked>> {
    let manifest = &loaded.manifest;
    let by =
        |refusals| Box::new(Blocked { manifest: Some(manifest.name.clone()), ..Blocked::by(loaded.located(refusals)) });
    let source = AnyRequest::of(manifest).map_err(|r| by(vec![r]))?.describe().map_err(by)?;
    let target = AnyTarget::of(&manifest.sink).map_err(|r| by(vec![r]))?;
    let target = describe(&target, manifest, &source.schema).map_err(by)?;
    let base_owner = target.base_run.clone().filter(|run| owns(run, &target.base));
    let owns_former = target.former.as_ref().is_some_and(|former| owns(&former.run, &former.identity));
    let (manifest_file, notices) = (Some(loaded.name.clone()), loaded.notices.clone());
    let context = Context { journal_key: key, base_owner, owns_former, manifest_file, notices };
    let built = build(manifest, &source, &target, &context);
    built.map_err(|why| Box::new(Blocked { blockers: loaded.located(why.blockers.clone()), ..*why }))
}

/// What the target is. A column whose NULLs a gate refuses before anything is published may go where no NULL is taken;
/// files have to be of one form, and it is not theirs.
fn describe(target: &AnyTarget, manifest: &Manifest, schema: &Schema) -> Result<TargetFacts, Vec<Refusal>> {
    let refusals = match target.describe(schema) {
        Err(refusals) if manifest.sink.kind != SinkType::Parquet && refusals.iter().any(is_about_null) => refusals,
        described => return described,
    };
    let is_gated = |name: &String| manifest.quality.not_null.contains(name);
    if !schema.columns.iter().any(|column| column.nullable && is_gated(&column.name)) {
        return Err(refusals.into_iter().map(or_gated).collect());
    }
    let columns = schema.columns.iter().cloned();
    let columns = columns.map(|column| Column { nullable: column.nullable && !is_gated(&column.name), ..column });
    let described = target.describe(&Schema { columns: columns.collect() });
    described.map_err(|refusals| refusals.into_iter().map(or_gated).collect())
}

fn is_about_null(refusal: &Refusal) -> bool {
    refusal.code == Code::NullableSourceIntoNonNullableTarget
}

/// Adds what else helps.
fn or_gated(refusal: Refusal) -> Refusal {
    match &refusal.fix {
        Some(fix) if is_about_null(&refusal) => {
            let fix = format!(
                "{fix} Or add the column to quality.not_null, which refuses NULL before anything is published."
            );
            refusal.fix(fix)
        }
        _ => refusal,
    }
}

/// Whether that run of the journal published the content of that identity. Its id alone says nothing: another journal may
/// have a run of the same.
pub(crate) fn published_here(journal: Option<&Journal>, run: &str, identity: &str) -> bool {
    let fold = journal.and_then(|j| j.fold(run).ok());
    fold.and_then(|(run, _)| run.published).is_some_and(|(published, _)| published == identity)
}

/// What the source is now, of a manifest that may have no plan.
pub(crate) fn source(loaded: &Loaded) -> Option<SourceFacts> {
    AnyRequest::of(&loaded.manifest).ok().and_then(|request| request.describe().ok())
}
