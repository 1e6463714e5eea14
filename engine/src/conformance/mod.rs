//! What every implementation of a port must do, as functions that panic where one does not. Real adapters and the
//! simulated world pass the same ones.
//!
//! Only compiled with the feature `conformance`.

mod object_store;
mod sink;
mod source;

pub use object_store::object_store;
pub use sink::{SinkWorld, sink};
pub use source::{SourceWorld, source};

use crate::codes::Code;
use crate::ports::Feed;
use crate::run::effect::ChunkFacts;
use crate::run::{Outcome, Receipt, Why};

/// Objects that are handed over one after another.
struct Objects<B> {
    left: std::vec::IntoIter<Result<(ChunkFacts, B), Why>>,
}

impl<B> Objects<B> {
    fn new(objects: Vec<Result<(ChunkFacts, B), Why>>) -> Self {
        Self { left: objects.into_iter() }
    }
}

impl<B: crate::ports::Body> Feed for Objects<B> {
    type Body = B;

    async fn next(&mut self) -> Option<Result<(ChunkFacts, B), Why>> {
        self.left.next()
    }

    fn granted(&self) -> u64 {
        64 << 20
    }
}

/// The receipt of something that must have happened.
#[track_caller]
fn done(outcome: Outcome, what: &str) -> Receipt {
    match outcome {
        Outcome::Done(receipt) => receipt,
        other => panic!("{what}: {other:?}"),
    }
}

/// The code of something that must not have happened.
#[track_caller]
fn refused(outcome: Outcome, what: &str) -> Code {
    match outcome {
        Outcome::NotDone(why) => why.code,
        other => panic!("{what}: {other:?}"),
    }
}
