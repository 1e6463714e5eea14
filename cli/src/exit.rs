//! Exit codes: what scripts rely on.

use std::process::ExitCode;

use dpone_engine::codes::Code;

/// Delivered, or nothing to do.
pub(crate) const DELIVERED: u8 = 0;
/// dpone itself is wrong, or a journal's chain is broken.
pub(crate) const INTERNAL: u8 = 1;
/// Refused before any source row was read.
pub(crate) const REFUSED: u8 = 2;
/// Another runner or claim is active.
pub(crate) const ACTIVE: u8 = 5;

/// The exit code of a command that was refused with that code. A refusal comes before any source row is read,
/// whatever class its code has: what goes wrong later is a run's end and told as one.
pub(crate) fn of_refusal(code: Code) -> u8 {
    match code {
        Code::InternalError | Code::JournalCorrupt => INTERNAL,
        Code::RunAlreadyActive | Code::TargetClaimedElsewhere | Code::LeaseLost => ACTIVE,
        _ => REFUSED,
    }
}

/// As the operating system takes it.
pub(crate) fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}
