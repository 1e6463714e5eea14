//! From a manifest and what preflight found to a plan, or to every reason why there is none.

pub mod facts;
