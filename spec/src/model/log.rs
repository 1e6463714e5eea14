//! A log that shares its past with the logs it branched from.

use std::sync::Arc;

use dpone_engine::run::Event;

/// An append-only list of events.
#[derive(Clone, Debug, Default)]
pub struct Log(Option<Arc<Node>>);

#[derive(Debug)]
struct Node {
    event: Event,
    before: Log,
}

impl Log {
    /// The log with one more event.
    pub fn and(&self, event: Event) -> Log {
        Log(Some(Arc::new(Node { event, before: self.clone() })))
    }

    /// Every event, in order.
    pub fn events(&self) -> Vec<&Event> {
        let mut events = Vec::new();
        let mut at = self;
        while let Log(Some(node)) = at {
            events.push(&node.event);
            at = &node.before;
        }
        events.reverse();
        events
    }
}
