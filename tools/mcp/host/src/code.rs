//! [`ServerCode`]: the files that a server outside of walls may run, and those of them that sessions wrote.

mod links;

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use host::placed::normalise;
use host::{WrittenFile, is_document};
use serde_json::{Value, json};
use tools_mcp::config::FileOwner;

use crate::error::McpError;

/// Programs that fetch a package and run it.
const RUNNERS: [&str; 7] = ["bunx", "docker", "npx", "pipx", "pnpx", "podman", "uvx"];

/// Programs whose arguments are text with paths of their own making, such as by `cd`.
const SHELLS: [&str; 7] = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];

/// The folders of dependencies.
const DEPENDENCIES: [&str; 3] = ["node_modules", ".venv", "venv"];

/// The most files that an approval shows.
const SHOWN: usize = 20;

/// The program of a server without a grant, which runs outside of walls.
pub(crate) struct ServerCode {
    pub(super) server: String,
    pub(super) owner: FileOwner,
    pub(super) workspace: PathBuf,
    /// The home of the user, without links.
    pub(super) home: Option<PathBuf>,
    /// The program, as found and with its links resolved.
    pub(super) programs: [PathBuf; 2],
    pub(super) cwd: PathBuf,
    /// True if the entry names the working directory.
    pub(super) has_own_cwd: bool,
    /// The arguments and the values of the environment, without references to variables.
    pub(super) words: Vec<String>,
}

/// The files of a root that a server may run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Nothing,
    /// The files beside the settings of package managers, and dependencies.
    Dependencies,
    /// The files of the workspace.
    Workspace,
    /// The files of the workspace of a project, and those in folders of the home that an entry leads into.
    Home,
    All,
}

impl ServerCode {
    /// Returns the fact about the files that sessions wrote among those that the server may run. It changes with each such write. Returns
    /// `null` if there are none.
    ///
    /// # Errors
    /// Returns an error if the record of the files cannot be read.
    pub(crate) fn writes(&self) -> Result<Value, McpError> {
        let found = host::written_files(&|root| self.reach(root) != Reach::Nothing);
        let found = found.map_err(|error| {
            let reason = format!(
                "the record of what sessions wrote cannot be read: {error}; check the state folder"
            );
            McpError::unusable(&self.server, reason)
        })?;
        let mut files: Vec<(PathBuf, u64)> = Vec::new();
        let documents = LazyCell::new(|| self.documents());
        let runs = |path: &Path, file: &WrittenFile| {
            // A folder of documents stands for all in it.
            !file.is_document
                || documents.as_ref().is_none_or(|documents| {
                    documents.iter().any(|document| document.starts_with(path))
                })
        };
        for (root, written) in found {
            let reach = self.reach(&root);
            for file in written {
                let path = root.join(&file.path);
                if self.may_run(&path, file.is_whole, reach) && runs(&path, &file) {
                    files.push((path, file.at));
                }
            }
        }
        let Some(last) = files.iter().map(|(_, at)| *at).max() else {
            return Ok(Value::Null);
        };
        // Files say more than the folders in which they are.
        files.sort_by_cached_key(|(path, at)| (path.is_dir(), Reverse(*at), path.clone()));
        let latest = files.iter().take(SHOWN);
        let shown: Vec<_> = latest.map(|(path, _)| self.show_path(path)).collect();
        Ok(match files.len() - shown.len() {
            0 => json!({"files": shown, "last": last.to_string()}),
            more => json!({"files": shown, "more": more, "last": last.to_string()}),
        })
    }

    /// Returns the documents to which links lead that the server may run. Returns `None` for all documents, if its entry names one.
    fn documents(&self) -> Option<Vec<PathBuf>> {
        let parts = || self.words.iter().flat_map(|word| parts(word));
        if self.programs.iter().any(|program| is_document(program))
            || parts().any(|part| is_document(part.as_ref()))
        {
            return None;
        }
        let mut documents = match self.owner {
            FileOwner::Project => links::documents(&self.workspace)?,
            _ => Vec::new(),
        };
        let named = parts().filter_map(|part| self.cwd.join(part).canonicalize().ok());
        documents.extend(named.filter(|path| is_document(path)));
        Some(documents)
    }

    fn show_path(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.workspace).unwrap_or(path);
        let end = if path.is_dir() { "/" } else { "" };
        if below.as_os_str().is_empty() {
            "./".to_owned()
        } else {
            format!("{}{end}", below.to_string_lossy())
        }
    }

    /// Returns true if the server may run a file, or one in a folder.
    fn may_run(&self, path: &Path, is_whole: bool, reach: Reach) -> bool {
        match path.strip_prefix(&self.workspace) {
            _ if reach == Reach::All => true,
            _ if reach == Reach::Home && self.leads_beside(path, is_whole) => true,
            _ if self.owner == FileOwner::User => false,
            _ if is_whole && self.workspace.starts_with(path) => true,
            Ok(below) => reach != Reach::Dependencies || is_dependency(below),
            Err(_) => false,
        }
    }

    fn reach(&self, root: &Path) -> Reach {
        let is_of_workspace = root.starts_with(&self.workspace) || self.workspace.starts_with(root);
        match self.owner {
            _ if self.hides_paths() => Reach::All,
            _ if self.leads_into(root) => match &self.home {
                Some(home) if home.starts_with(root) => Reach::Home,
                _ => Reach::All,
            },
            FileOwner::Project if is_of_workspace && self.is_runner() => Reach::Dependencies,
            FileOwner::Project if is_of_workspace => Reach::Workspace,
            _ => Reach::Nothing,
        }
    }

    /// Returns true if the entry leads into the folder of the home in which a path lies, or if the path is not in one.
    fn leads_beside(&self, path: &Path, is_whole: bool) -> bool {
        let Some(home) = &self.home else { return true };
        match path
            .strip_prefix(home)
            .map(|below| below.components().next())
        {
            Ok(Some(first)) => self.leads_into(&home.join(first)),
            // Not everything in the home changes with the home.
            Ok(None) => is_whole,
            Err(_) => true,
        }
    }

    /// Returns true if a shell or another program may make paths that no word spells.
    fn hides_paths(&self) -> bool {
        let is_shell = self.programs.iter().any(|program| {
            let name = program.file_stem();
            name.is_some_and(|name| SHELLS.iter().any(|shell| name == *shell))
        });
        self.words
            .iter()
            .any(|word| word.contains(['$', '~']) || is_shell && word.contains(char::is_whitespace))
    }

    fn is_runner(&self) -> bool {
        let is_shell_text =
            |word: &String| word.contains(char::is_whitespace) || word == "-c" || word == "--call";
        let name = self.programs[0].file_stem();
        let is_runner = name.is_some_and(|name| RUNNERS.iter().any(|runner| name == *runner));
        is_runner && self.cwd == self.workspace && !self.words.iter().any(is_shell_text)
    }

    /// Returns true if the program, its working directory or one of its words lies in a root.
    fn leads_into(&self, root: &Path) -> bool {
        let mut programs = self.programs.iter();
        if programs.any(|program| program.starts_with(root)) || self.has_own_cwd_in(root) {
            return true;
        }
        let mut before: Option<&str> = None;
        for word in &self.words {
            // A package runner passes a folder on to the package, unless it is the package itself.
            let is_passed_on =
                self.is_runner() && before.is_some_and(|before| !before.starts_with('-'));
            let mut parts = parts(word);
            if parts.any(|part| self.is_in(root, part, is_passed_on)) {
                return true;
            }
            before = Some(word);
        }
        false
    }

    fn has_own_cwd_in(&self, root: &Path) -> bool {
        let is_other = self.cwd != self.workspace || self.owner == FileOwner::User;
        self.has_own_cwd && is_other && self.cwd.starts_with(root)
    }

    /// Returns true if a part of a word names something in a root. The root itself is only data if the word is passed on.
    fn is_in(&self, root: &Path, part: &str, is_passed_on: bool) -> bool {
        let path = normalise(&self.cwd.join(part));
        let real = path.canonicalize();
        let is_root = path == root;
        if is_root
            || !path.starts_with(root) && !real.as_ref().is_ok_and(|real| real.starts_with(root))
        {
            return is_root && !is_passed_on;
        }
        let folder = path
            .parent()
            .filter(|folder| *folder != root && folder.is_dir());
        real.is_ok() || part.starts_with('.') || folder.is_some() || has_stem(&path)
    }
}

/// Returns a word, and the parts of it that can be paths, such as in `--require=./x`, `a:b` and `-C/x`.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let separated =
        word.split(|letter: char| letter.is_whitespace() || "=:,;'\"()<>|&@`".contains(letter));
    let absolute = word.find('/').map(|at| &word[at..]);
    [word]
        .into_iter()
        .chain(absolute)
        .chain(separated)
        .filter(|part| !part.is_empty())
        .collect::<BTreeSet<_>>()
        .into_iter()
}

/// Returns true if there is a file of this name with an end, such as `server.py` for `server`.
fn has_stem(path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| Path::new(&entry.file_name()).file_stem() == Some(name))
}

fn is_dependency(below: &Path) -> bool {
    below.components().count() == 1
        || below
            .components()
            .any(|part| DEPENDENCIES.iter().any(|name| part.as_os_str() == *name))
}
