//! [`Executable`]: the program that a command starts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fmt};

use host::trust::Subject;
use serde_json::json;

use crate::config::{ServerEntry, Transport};

/// The program that a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executable {
    /// The absolute path, as found. It may be a link, whose name can matter to the program.
    pub path: PathBuf,
    /// The path with all links resolved.
    pub target: PathBuf,
}

impl Executable {
    /// Finds the program of a command: a path relative to the working directory, or a name in the folders of a search path, such as the
    /// variable `PATH`. Relative folders of the search path are skipped. Returns `None` if there is no such program.
    pub fn find(command: &str, cwd: &Path, search: &OsStr) -> Option<Self> {
        if command.is_empty() {
            return None;
        }
        let path = Path::new(command);
        if path.components().count() > 1 || path.is_absolute() {
            return Self::at(cwd.join(path));
        }
        env::split_paths(search)
            .filter(|folder| folder.is_absolute())
            .find_map(|folder| Self::at(folder.join(command)))
    }

    fn at(path: PathBuf) -> Option<Self> {
        let target = path.canonicalize().ok()?;
        is_program(&target).then_some(Self { path, target })
    }
}

/// Shows the path, and the target if it is another one.
impl fmt::Display for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if self.path == self.target {
            Ok(())
        } else {
            write!(f, " -> {}", self.target.display())
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Returns the facts about a project's server that the user approves: the command, its resolved executable, arguments, environment and
/// working directory, or the URL and headers. Values are as the file has them, so variables are not expanded.
///
/// The workspace is the absolute path of its root. A server without an executable has `None`. `folder` is the working directory with all
/// links resolved; it is a part of the subject if the entry names one.
pub fn server_subject(
    workspace: &str,
    entry: &ServerEntry,
    executable: Option<&Executable>,
    folder: Option<&Path>,
) -> Subject {
    let mut facts = entry.transport.to_fields();
    if let Transport::Stdio { cwd, .. } = &entry.transport {
        let executable = executable.map(ToString::to_string);
        facts.insert("executable".to_owned(), json!(executable));
        if let (Some(cwd), Some(folder)) = (cwd, folder)
            && folder != Path::new(cwd)
        {
            let folders = json!([cwd, folder.to_string_lossy()]);
            facts.insert("cwd".to_owned(), folders);
        }
    }
    facts.retain(|_, value| !value.is_null());
    Subject::from_facts(workspace, entry.name.as_str(), facts)
}
