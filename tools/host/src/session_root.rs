//! [`SessionRoot`]: the folder of a session.

/// The folder of a session, a service that is there before those of families.
#[derive(Clone, Debug)]
pub struct SessionRoot {
    /// The path with links resolved, which is UTF-8: it names the workspace in records.
    pub workspace: String,
    /// True if the session reads the settings files of the user and the project: without `--config` and `--no-config`.
    pub reads_project: bool,
}
