//! Folding a log into a run.

use super::apply::{Illegal, begin};
use super::event::Event;
use super::run::Run;

/// The run that a log tells of.
///
/// # Errors
/// If the log is empty or an event cannot follow the ones before it: the log is damaged or was written by something
/// else. It is never repaired by guessing.
pub fn recover<'a>(log: impl IntoIterator<Item = &'a Event>) -> Result<Run, Illegal> {
    let mut events = log.into_iter();
    let first = events.next().ok_or(Illegal { seq: 1, reason: "a log begins with its plan" })?;
    let mut run = begin(first)?;
    for event in events {
        run.absorb(event)?;
    }
    Ok(run)
}
