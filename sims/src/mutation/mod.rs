//! Planted defects: each must be found, or the simulator is blind to it.

mod list;
mod workspace;

pub use list::ALL;
pub use workspace::{Verdict, Workspace};

/// A defect to plant.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// Its name.
    pub name: &'static str,
    /// What it breaks.
    pub what: &'static str,
    /// The edits that plant it, all together.
    pub edits: &'static [Edit],
}

/// One replacement.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// The file, from the repository's root.
    pub file: &'static str,
    /// What is there, once.
    pub find: &'static str,
    /// What is there then.
    pub replace: &'static str,
}

impl Edit {
    /// The text with the edit, or `None` unless what it looks for is there exactly once.
    pub fn apply(&self, text: &str) -> Option<String> {
        (text.matches(self.find).count() == 1).then(|| text.replacen(self.find, self.replace, 1))
    }
}
