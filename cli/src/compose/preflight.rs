//! Both sides' preflight, and the plan that follows from it. No side effects.

use dpone_adapters::any::{AnyRequest, AnyTarget};
use dpone_engine::plan::{Blocked, Context, Plan, SourceFacts, build};
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
    let target = target.describe(&source.schema).map_err(by)?;
    let base_owner = target.base_run.clone().filter(|run| owns(run, &target.base));
    let owns_former = target.former.as_ref().is_some_and(|former| owns(&former.run, &former.identity));
    let (manifest_file, notices) = (Some(loaded.name.clone()), loaded.notices.clone());
    let context = Context { journal_key: key, base_owner, owns_former, manifest_file, notices };
    let built = build(manifest, &source, &target, &context);
    built.map_err(|why| Box::new(Blocked { blockers: loaded.located(why.blockers.clone()), ..*why }))
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
