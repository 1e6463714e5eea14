//! Whether a silent server still works.
//!
//! A count or a sort may take hours and says nothing meanwhile, and a network that was cut says nothing either. The server
//! itself knows: another session asks it what this one's process is doing.

use std::time::Duration;

use super::config::Config;
use super::session::Session;

/// How long the other session may take for anything, at most.
const PATIENCE: Duration = Duration::from_secs(15);

/// Asks after one server process.
pub(super) struct Watch {
    config: Config,
    process: i32,
}

impl Watch {
    pub(super) fn new(config: &Config, process: i32) -> Self {
        let mut config = config.clone();
        config.read_deadline = config.read_deadline.min(PATIENCE);
        config.connect_timeout = config.connect_timeout.min(config.read_deadline);
        Self { config, process }
    }

    /// Whether the process is at work, and not waiting for this side: then what it sent has been lost.
    pub(super) fn is_working(&self) -> bool {
        let sql = format!(
            "SELECT count(*) FROM pg_catalog.pg_stat_activity \
             WHERE pid = {} AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'",
            self.process
        );
        let answer = Session::connect_unwatched(&self.config).and_then(|mut session| session.query(&sql));
        answer.is_ok_and(|rows| rows == [[Some("1".to_owned())]])
    }
}
