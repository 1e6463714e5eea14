//! One type for whichever source or sink a manifest names, so that the driver stays generic over ports and not over
//! databases.

mod sink;
mod source;

pub use sink::{AnySink, AnyTarget};
pub use source::{AnyReader, AnyRequest, AnySource};
