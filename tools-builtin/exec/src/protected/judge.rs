//! [`Judge`]: decides which paths are protected, by the table, the grant and the policy of a call.

use std::fs::{self, Metadata};
use std::path::Path;

use tools::policy::{Reason, SensitivePath, SensitivePaths, Sensitivity};
use tools::protocol::{Access, Clause, Target, ToolName};
use tools::{Host, ToolContext};
use tools_workspace::{is_loaded_by_name, is_output, reads_as_script};

use crate::lookup::is_executable;

/// The note of a script at the root that a program made executable.
const SCRIPT: &str = "a new script at the root of the workspace, which others may start";

/// The note of another new file at the root.
const LOADED: &str = "a new file at the root of the workspace, which programs that start there load or run by its name";

/// The note of a part of a repository without a folder of files.
const OF_BARE: &str = "a part of a folder that git takes for a repository, and git runs the commands that its settings name";

/// The files from which agents take instructions in whatever folder they work.
const INSTRUCTIONS: &str =
    "AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md";

/// Decides which paths are protected. Holds no services, so that it can outlive its call.
#[derive(Clone)]
pub(crate) struct Judge {
    /// The table, the grant and the policy of a call.
    host: Host,
    /// The tool of the call. Without one, no clause opens a path.
    tool: Option<ToolName>,
}

impl Judge {
    /// Creates the judge of a call.
    pub(crate) fn from_call(cx: &ToolContext) -> Self {
        let bare = Host::new()
            .with_grant(cx.grant().clone())
            .with_sensitive_paths(cx.sensitive_paths().clone());
        let bare = cx
            .policy()
            .into_iter()
            .cloned()
            .fold(bare, Host::with_policy);
        Self {
            host: bare,
            tool: cx.tool().cloned(),
        }
    }

    /// Creates a judge for which no clause opens a path.
    pub(crate) fn strict(paths: SensitivePaths) -> Self {
        Self {
            host: Host::new().with_sensitive_paths(paths),
            tool: None,
        }
    }

    /// Returns the table.
    pub(crate) fn paths(&self) -> &SensitivePaths {
        self.host.sensitive_paths()
    }

    pub(crate) fn find(&self, path: &str) -> Option<&SensitivePath> {
        self.paths().find(path)
    }

    /// Returns true if writing the path would be asked about because it is sensitive.
    pub(crate) fn is_protected(&self, path: &str) -> bool {
        let Ok(target) = Target::new(Access::Write, "fs", path) else {
            return true;
        };
        let targets = [target];
        let Some(tool) = &self.tool else { return true };
        let mut reasons = self
            .host
            .rulings(tool, &targets)
            .flat_map(|ruling| ruling.reasons());
        reasons
            .any(|reason| matches!(reason, Reason::Sensitive(entry) if is_sensitive(entry, path)))
    }

    /// Returns true if each layer of the grant has a clause without wildcards for the file.
    pub(crate) fn is_spelled(&self, path: &str) -> bool {
        let Ok(target) = Target::new(Access::Write, "fs", path) else {
            return false;
        };
        let is_literal = |clause: &Clause| {
            clause.matches(&target) && !clause.pattern().contains(['*', '?', '[', '{'])
        };
        let mut layers = self.host.grant().layers();
        self.tool.is_some() && layers.all(|layer| layer.iter().any(is_literal))
    }

    /// Returns true if no clause names the folder of git, which has another name, as `fs:write:.git/**` names `.git`.
    pub(crate) fn keeps_repository(&self, folder: &str) -> bool {
        let below = |name: &str| match folder {
            "." => name.to_owned(),
            _ => format!("{folder}/{name}"),
        };
        let entry = SensitivePath::new(
            format!("/{}", below("**")),
            Sensitivity::RunsByItself,
            OF_BARE,
        );
        let paths = self.paths().clone().with_paths(entry);
        let Self { host, tool } = self.clone();
        let named = Self {
            host: host.with_sensitive_paths(paths),
            tool,
        };
        self.is_protected(&below("HEAD")) && named.is_protected(&below("index"))
    }

    /// Returns true if a program must not leave the path behind, although no clause of its grant names it: below folders of
    /// [outputs](is_output), only settings of Toolcrib, [instructions](INSTRUCTIONS), repositories, and files that settings or the `PATH` of
    /// the person name there count.
    pub(crate) fn matters(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        let Some((last, above)) = names.split_last() else {
            return true;
        };
        let is_below_output = above.iter().any(|name| is_output(name));
        // A pattern from the root is of this workspace alone.
        let is_named = self.find(path).is_some_and(|entry| {
            entry.sensitivity == Sensitivity::Settings || entry.pattern.starts_with('/')
        });
        !is_below_output || is_named || is_instruction(last)
    }

    /// Describes a path that counts, at an absolute path.
    pub(crate) fn note(&self, path: &str, absolute: &Path) -> String {
        match self
            .find(path)
            .filter(|entry| is_sensitive(entry, path) || is_dot_file(entry))
        {
            Some(entry) => entry.note.clone(),
            None if absolute.is_dir() => OF_BARE.to_owned(),
            None if !path.contains('/') && is_loaded_by_name(path) => LOADED.to_owned(),
            None if !path.contains('/') => SCRIPT.to_owned(),
            None => OF_BARE.to_owned(),
        }
    }
}

/// Returns true if agents take instructions from a file of this name.
pub(super) fn is_instruction(path: &str) -> bool {
    let mut names = INSTRUCTIONS.split(' ');
    names.any(|name| {
        path.rsplit('/')
            .next()
            .is_some_and(|last| name.eq_ignore_ascii_case(last))
    })
}

/// Returns true if the file runs or configures programs by itself. A folder on the way to one does not, and neither does a dot file that
/// the table does not have.
pub(crate) fn is_sensitive(entry: &SensitivePath, path: &str) -> bool {
    entry.sensitivity >= Sensitivity::RunsByItself && entry.describe(path) == entry.note
}

/// Returns true for a dot file that the table does not have: a new one may run or configure programs, an old one is as it is.
pub(crate) fn is_dot_file(entry: &SensitivePath) -> bool {
    entry.sensitivity == Sensitivity::DotFile
}

/// Returns true if the path is directly in the root, and programs load or run it by its name, or it is a script that can be started.
pub(super) fn is_started_at_root(path: &str, here: &Path, metadata: &Metadata) -> bool {
    let is_named = !metadata.is_dir() && is_loaded_by_name(path);
    !path.contains('/') && (is_named || is_script(here, metadata))
}

/// Returns true if the file is a script that can be started by its name.
pub(super) fn is_script(path: &Path, metadata: &Metadata) -> bool {
    // One that cannot be read now may be one later.
    metadata.is_file()
        && is_executable(metadata)
        && fs::File::open(path).map_or(true, reads_as_script)
}
