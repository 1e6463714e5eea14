//! Exit codes: what scripts rely on.

use std::process::ExitCode;

use dpone_engine::codes::{Code, FailureClass};

/// Delivered, or nothing to do.
pub(crate) const DELIVERED: u8 = 0;
/// dpone itself is wrong, or a journal's chain is broken.
pub(crate) const INTERNAL: u8 = 1;
/// Refused before any source row was read.
pub(crate) const REFUSED: u8 = 2;
/// Failed; nothing published; resumable.
pub(crate) const FAILED: u8 = 3;
/// Another runner or claim is active.
pub(crate) const ACTIVE: u8 = 5;

/// The exit code of a command that was refused with that code.
pub(crate) fn of_refusal(code: Code) -> u8 {
    match code {
        Code::InternalError => INTERNAL,
        Code::RunAlreadyActive | Code::TargetClaimedElsewhere | Code::LeaseLost => ACTIVE,
        _ => match code.class() {
            FailureClass::PreflightBlock | FailureClass::Control => REFUSED,
            _ => FAILED,
        },
    }
}

/// As the operating system takes it.
pub(crate) fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}
