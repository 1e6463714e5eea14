//! What an IO error of the dataset's folder means.

use std::io;

use dpone_engine::codes::Code;
use dpone_engine::run::Why;

use crate::durable::{Failure, classify};

/// The cause, under `code` unless the disk is full.
pub(super) fn why(code: Code, what: &str, error: &io::Error) -> Why {
    let class = classify(error);
    let code = if class == Failure::NoRoom { Code::TargetDiskFull } else { code };
    Why { code, detail: format!("{what}: {error}"), transient: class == Failure::Transient }
}
