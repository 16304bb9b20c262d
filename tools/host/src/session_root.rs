//! [`SessionRoot`]: the folder of a session.

use std::path::PathBuf;

/// The folder of a session, a service that is there before those of families.
#[derive(Clone, Debug)]
pub struct SessionRoot {
    /// The path, with links resolved.
    pub path: PathBuf,
}
