//! What an error of the store means.

use std::error::Error as _;
use std::io;

use dpone_engine::codes::Code;
use dpone_engine::run::Why;

use crate::durable::{self, Failure};

/// The class of an error: by the IO error below it.
pub(super) fn class(error: &opendal::Error) -> Failure {
    io_error(error).map_or(Failure::Fatal, durable::classify)
}

/// The cause in one phrase, without the address that the store puts into its own messages.
pub(super) fn cause(error: &opendal::Error) -> String {
    io_error(error).map_or_else(|| error.kind().to_string(), ToString::to_string)
}

/// An object that cannot be read now.
pub(super) fn unreadable(key: &str, error: &opendal::Error) -> Why {
    let detail = format!("object {key} cannot be read: {}", cause(error));
    Why { code: Code::ObjectLost, detail, transient: class(error) == Failure::Transient }
}

fn io_error(error: &opendal::Error) -> Option<&io::Error> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return Some(io);
        }
        source = cause.source();
    }
    None
}
