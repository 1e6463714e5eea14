//! `dpone schema manifest`.

use super::Answer;
use crate::args::SchemaCommand;
use crate::exit;
use crate::output::Output;

/// Prints the schema.
pub(crate) fn schema(which: SchemaCommand, output: &Output) -> Answer {
    match which {
        SchemaCommand::Manifest => output.json(&dpone_engine::manifest::json_schema()),
    }
    Ok(exit::DELIVERED)
}
