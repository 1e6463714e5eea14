//! Whether a build has the adapters that a manifest names.

use super::{Manifest, SinkType, SourceType, StoreType};
use crate::codes::Code;
use crate::refusal::Refusal;

/// The adapters of a build. The engine knows none; the binary says what it was built with.
#[derive(Clone, Copy, Debug)]
pub struct Support<'b> {
    /// Kinds of source.
    pub sources: &'b [SourceType],
    /// Kinds of sink.
    pub sinks: &'b [SinkType],
    /// Kinds of transfer store.
    pub stores: &'b [StoreType],
}

impl Manifest {
    /// `route_unsupported` for each side that the build has no adapter for; empty when it can run.
    pub fn unsupported(&self, build: &Support<'_>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let mut need = |there: bool, what: &str, kind: &str, place: &str, known: Vec<&str>| {
            if !there {
                refusals.push(
                    Refusal::new(Code::RouteUnsupported, format!("this build has no {what} of type `{kind}`"))
                        .at(place)
                        .fix(format!("Use one of: {}.", known.join(", "))),
                );
            }
        };
        let store = self.runtime.storage.transfer_store.kind;
        let sources = build.sources.iter().map(|kind| kind.as_str()).collect();
        need(build.sources.contains(&self.source.kind), "source", self.source.kind.as_str(), "source.type", sources);
        let sinks = build.sinks.iter().map(|kind| kind.as_str()).collect();
        need(build.sinks.contains(&self.sink.kind), "sink", self.sink.kind.as_str(), "sink.type", sinks);
        let stores = build.stores.iter().map(|kind| kind.as_str()).collect();
        need(
            build.stores.contains(&store),
            "transfer store",
            store.as_str(),
            "runtime.storage.transfer_store.type",
            stores,
        );
        refusals
    }
}
