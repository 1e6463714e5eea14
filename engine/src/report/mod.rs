//! Renderings: plans, results and timelines as text, Markdown and JSON. Pure: the same facts give the same bytes.

pub mod grid;
pub mod plan;
pub mod policy;
pub mod range;
pub mod receipt;
pub mod remedy;
pub mod run_result;
pub mod schema;
pub mod timeline;
pub mod units;
