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

/// An object that cannot be read: lost, unless the cause may pass. What may be there still is not read anew from the
/// source.
pub(super) fn unreadable(key: &str, error: &opendal::Error) -> Why {
    let detail = format!("object {key} cannot be read: {}", cause(error));
    match class(error) {
        Failure::Transient => Why::transient(Code::ObjectReadFailed, detail),
        Failure::NoRoom | Failure::Fatal => Why::fatal(Code::ObjectLost, detail),
    }
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

#[cfg(test)]
mod tests {
    use std::io;

    use dpone_engine::codes::Code;
    use opendal::ErrorKind;

    use super::unreadable;

    /// Too many open files passes; a disk that cannot read does not.
    #[test]
    fn what_may_pass_is_not_lost() {
        for (os_error, code, transient) in [
            (24, Code::ObjectReadFailed, true),
            (23, Code::ObjectReadFailed, true),
            (5, Code::ObjectLost, false),
            (13, Code::ObjectLost, false),
        ] {
            let error =
                opendal::Error::new(ErrorKind::Unexpected, "read").set_source(io::Error::from_raw_os_error(os_error));
            let why = unreadable("k", &error);
            assert_eq!((why.code, why.transient), (code, transient), "{os_error}");
        }
    }
}
