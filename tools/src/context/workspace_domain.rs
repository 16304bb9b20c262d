//! [`WorkspaceDomain`]: the resource behind the `fs` targets of a session.

use std::sync::Arc;

use crate::context::Host;
use crate::policy::{SensitivePath, Sensitivity};

/// The description of a control file in approval requests and refusals.
const CONTROL_FILE: &str = "a control file of this session, which decides what tools may do";

/// The workspace of a session: the identity of its root, and its control files.
///
/// A control file decides what tools may do, such as a settings file, a policy or a script. Each write or removal needs approval,
/// regardless of the grant.
///
/// ```
/// use tools::Host;
/// use tools::context::WorkspaceDomain;
///
/// // `Workspace` of `toolcrib-fs` returns both: `identity()` and `paths_to(file)`.
/// let domain = WorkspaceDomain::new("device 1, inode 2").with_control_files(["conf/rules.toml"]);
/// let host = domain.enter(Host::new());
/// assert_eq!(host.domain("fs"), "device 1, inode 2");
/// assert!(host.sensitive_paths().find("conf/rules.toml").is_some());
/// assert!(host.sensitive_paths().find("rules.toml").is_none());
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkspaceDomain {
    identity: Arc<str>,
    control: Vec<SensitivePath>,
}

impl WorkspaceDomain {
    /// Creates a domain without control files. The identity is that of the root directory itself, not a path that may contain
    /// links. Calls in different domains do not wait for each other.
    pub fn new(identity: impl Into<Arc<str>>) -> Self {
        Self {
            identity: identity.into(),
            control: Vec::new(),
        }
    }

    /// Adds control files by their paths relative to the root. Leaves out paths that are no valid targets, because no call can name
    /// them.
    pub fn with_control_files(self, paths: impl IntoIterator<Item: AsRef<str>>) -> Self {
        let patterns = paths.into_iter().map(|path| format!("/{}", path.as_ref()));
        self.with(patterns)
    }

    /// Adds control files by their name, in any directory. Leaves out a name that is no valid target.
    pub fn with_control_name(self, name: impl Into<String>) -> Self {
        self.with([name.into()])
    }

    /// Puts the calls of a host into this domain, and adds the control files to its sensitive paths.
    pub fn enter(self, host: Host) -> Host {
        let paths = host.sensitive_paths().clone().with_paths(self.control);
        host.with_domain("fs", self.identity)
            .with_sensitive_paths(paths)
    }

    fn with(mut self, patterns: impl IntoIterator<Item = String>) -> Self {
        let settings =
            |pattern| SensitivePath::new(pattern, Sensitivity::Settings, CONTROL_FILE).ok();
        self.control
            .extend(patterns.into_iter().filter_map(settings));
        self
    }
}
