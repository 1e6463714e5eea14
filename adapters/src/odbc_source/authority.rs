//! What makes all sessions of a run see one state.

/// How the sessions of a run are opened so that they read one state, and that state's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// What is read and in which state; equal again only if the rows are the same.
    pub identity: String,
    /// Whether the state outlives this process: a snapshot, a point in time, an operator's word.
    pub persistent: bool,
    /// The database that sessions connect to, if it is another than the connection's.
    pub database: Option<String>,
    /// What each session runs once it is connected.
    pub setup: Vec<String>,
    /// Whether each session reads in one transaction: two sessions then see two states, and only one is opened.
    pub transaction: bool,
    /// A statement that shows that the state still holds, by one row whose first column is 1; run before reading, and
    /// again when rows are counted.
    pub proof: Option<String>,
}
