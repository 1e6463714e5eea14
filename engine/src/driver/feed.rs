//! Hands a unit's objects from the store to the sink, one at a time, under the budget.

use crate::budget::{Amount, Budget, Grant};
use crate::codes::Code;
use crate::ports::{Feed, ObjectStore, Ports};
use crate::run::Why;
use crate::run::effect::ChunkFacts;
use crate::run::run::ObjectFacts;

/// The objects of one unit, in order.
pub(super) struct ObjectFeed<'a, P: Ports> {
    pub(super) store: &'a P::Store,
    pub(super) budget: Budget,
    /// What decoding one object is granted beside its bytes, where the budget has room for both.
    pub(super) grant: u64,
    pub(super) objects: std::vec::IntoIter<ObjectFacts>,
    /// Held until the next object is asked for.
    pub(super) held: Option<Grant>,
}

impl<P: Ports> Feed for ObjectFeed<'_, P> {
    type Body = P::Body;

    async fn next(&mut self) -> Option<Result<(ChunkFacts, P::Body), Why>> {
        // Given back before the next is asked for: a load that waits holds nothing.
        self.held = None;
        let object = self.objects.next()?;
        let total = self.budget.total().bytes;
        let bytes = self.grant.saturating_add(object.facts.bytes).min(total).max(object.facts.bytes);
        match self.budget.reserve(Amount { bytes, rows: 0 }).await {
            Ok(grant) => self.held = Some(grant),
            Err(exceeds) => {
                let detail = format!("an object of {} bytes is larger than the budget", exceeds.want.bytes);
                return Some(Err(Why::fatal(Code::BudgetTooSmall, detail)));
            }
        }
        let body = self.store.get(&object.object, &object.facts).await;
        Some(body.map(|body| (object.facts, body)))
    }

    fn granted(&self) -> u64 {
        self.held.as_ref().map_or(0, |grant| grant.amount().bytes)
    }
}
