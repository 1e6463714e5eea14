//! What is known of a terminal.

use std::os::fd::AsFd;

/// How many columns the terminal of that stream has; `None` if it is none, or does not say.
pub(crate) fn columns(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
