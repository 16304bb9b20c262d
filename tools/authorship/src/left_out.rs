//! The commits that no approval of the user has shown.

use std::collections::BTreeSet;
use std::io;

use crate::mark::Marks;
use crate::records;

/// The name of the record, which has the ids of all repositories: an id stands for one content, wherever it lies.
const FILE: &str = "left-out.json";

impl Marks {
    /// Returns the commits that lay in a repository when the user approved others, because no branch and no tag led to them.
    ///
    /// # Errors
    /// Returns an error if the record cannot be read.
    pub(crate) fn left_out(&self) -> io::Result<BTreeSet<String>> {
        match records::read(&self.folder.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            read => read,
        }
    }

    /// Replaces the record of these commits.
    pub(crate) fn leave_out(&self, commits: &BTreeSet<String>) -> io::Result<()> {
        self.put(&self.folder.join(FILE), commits)
    }
}
