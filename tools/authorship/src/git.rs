//! [`Git`]: runs git on a repository that may come from a stranger.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::repository::{GIT, Repository};

/// The longest time of one question to git.
const LIMIT: Duration = Duration::from_secs(5);

/// The most bytes of an answer.
const MAX_ANSWER: u64 = 256 << 20;

/// The variables of the user's own settings of git.
const OF_USER: [&str; 3] = ["GIT_CONFIG_GLOBAL", "HOME", "XDG_CONFIG_HOME"];

/// Settings against those of a repository: it names no program that runs, and no history but its own.
const SETTINGS: [&str; 6] = [
    "core.attributesFile=/dev/null",
    "core.commitGraph=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.multiPackIndex=false",
    "protocol.allow=never",
];

/// Runs git in a repository, without its hooks and filters and without the settings of the user.
#[derive(Debug)]
pub(crate) struct Git {
    program: PathBuf,
    folder: PathBuf,
}

impl Git {
    /// Finds git among the programs of the user. Returns `None` if it is not installed, or only in the repository itself. One in
    /// another repository comes last.
    pub(crate) fn find(repository: &Repository) -> Option<Self> {
        let folders = std::env::var_os("PATH")?;
        let programs = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
        let programs = programs.filter_map(|folder| folder.join("git").canonicalize().ok());
        let programs = programs.filter(|it| it.is_file() && !it.starts_with(&repository.top));
        // A session may have put one into another repository.
        let program = programs.min_by_key(|it| it.ancestors().any(|it| it.join(GIT).exists()))?;
        Some(Self {
            program,
            folder: repository.git(),
        })
    }

    /// Returns the commit that is checked out.
    pub(crate) fn head(&self) -> Option<String> {
        self.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    }

    /// Returns the address of the user in the settings of all repositories, but not in those of this one.
    pub(crate) fn user(&self, root: &Path) -> Option<String> {
        self.user_with(root, &|name| std::env::var_os(name))
    }

    fn user_with(
        &self,
        root: &Path,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Option<String> {
        // A session could write these settings.
        let is_reachable = OF_USER.iter().any(|name| {
            let path = variable(name).map(PathBuf::from);
            let real = path.as_ref().and_then(|path| path.canonicalize().ok());
            path.into_iter()
                .chain(real)
                .any(|path| path.starts_with(root))
        });
        if is_reachable {
            return None;
        }
        let mut command = self.command();
        command.args(["config", "--global", "--includes", "--get", "user.email"]);
        // The command keeps settings of the user out, and these are the question here.
        command.env_remove("GIT_CONFIG_GLOBAL");
        for name in OF_USER {
            command.envs(variable(name).map(|value| (name, value)));
        }
        line(answer(command.spawn().ok()?, Instant::now() + LIMIT)?)
    }

    /// Returns the one line that git answers.
    pub(crate) fn text(&self, args: &[&str]) -> Option<String> {
        line(self.answer(args)?)
    }

    /// Returns the answer of git, or `None` if it fails, or takes too long.
    pub(crate) fn answer(&self, args: &[&str]) -> Option<Vec<u8>> {
        answer(
            self.command().args(args).spawn().ok()?,
            Instant::now() + LIMIT,
        )
    }

    /// Returns the keys and values of a file of settings, without those that it includes. Returns `None` if git cannot read it.
    pub(crate) fn settings(&self, file: &str) -> Option<Vec<u8>> {
        let mut command = self.command();
        // Git reads no file at all in a repository with a fault.
        command.env("GIT_DIR", "/dev/null");
        command.args(["config", "--file", file, "--no-includes", "--list", "-z"]);
        answer(command.spawn().ok()?, Instant::now() + LIMIT)
    }

    /// Returns the ids in all lines `commit <id>` that git writes, however long it takes.
    pub(crate) fn commits(&self, args: &[&str]) -> Option<BTreeSet<String>> {
        let mut child = self.command().args(args).spawn().ok()?;
        let lines = BufReader::new(child.stdout.take()?).lines();
        let commits = lines
            .map_while(Result::ok)
            .filter_map(|line| Some(line.strip_prefix("commit ")?.to_owned()))
            .collect();
        child.wait().ok()?.success().then_some(commits)
    }

    /// Returns true if git succeeds, however long it takes.
    pub(crate) fn succeeds(&self, args: &[&str]) -> bool {
        self.command()
            .args(args)
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Returns git with settings, and with pipes for its input and output.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.folder.parent().unwrap_or(&self.folder))
            .env_clear();
        command.args(["--no-pager", "--literal-pathspecs"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let folder: &OsStr = self.folder.as_os_str();
        // Without a home, git refuses all in a repository with a setting such as `core.hooksPath = ~/hooks`.
        command.env("HOME", "/dev/null");
        command.env("GIT_DIR", folder).env("LC_ALL", "C");
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1");
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_TERMINAL_PROMPT", "0");
        // A missing object is missing, and is not fetched from elsewhere.
        command
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_ALLOW_PROTOCOL", "none");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

/// Returns all that a process writes, or `None` if it fails or is not at its end in time.
fn answer(mut child: Child, until: Instant) -> Option<Vec<u8>> {
    let output = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(MAX_ANSWER).read_to_end(&mut bytes);
        // Nobody waits for a late answer.
        let _ = send.send(read.map(|_| bytes));
    });
    let read = receive.recv_timeout(until.saturating_duration_since(Instant::now()));
    let is_late = read.is_err();
    if is_late {
        // It may have ended already.
        let _ = child.kill();
    }
    let ended = child.wait().ok()?;
    // One of this length may have been cut.
    read.ok()?
        .ok()
        .filter(|bytes| ended.success() && (bytes.len() as u64) < MAX_ANSWER)
}

/// Returns a text of one line.
fn line(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_address_of_the_user_is_that_of_settings_that_no_session_of_the_root_writes() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let root = folder.join("root");
        let settings = |email: &str| format!("[user]\n\temail = {email}\n");
        for (file, text) in [
            ("home/.gitconfig", settings("home")),
            ("xdg/git/config", settings("xdg")),
            ("global", settings("global")),
            (
                "including/.gitconfig",
                "[include]\n\tpath = inner\n".to_owned(),
            ),
            ("including/inner", settings("included")),
            ("root/.gitconfig", settings("evil")),
            ("root/git/config", settings("evil")),
            ("empty/file", String::new()),
        ] {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), text).unwrap();
        }
        symlink(&root, folder.join("into")).unwrap();
        symlink(folder.join("home"), root.join("out")).unwrap();
        let git = |args: &[&str]| Command::new("git").args(args).current_dir(&root).status();
        git(&["init", "-q"]).unwrap();
        git(&["config", "user.email", "evil"]).unwrap();
        let git = Git::find(&Repository { top: root.clone() }).unwrap();
        let (home, xdg, global) = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL");
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let cases: [Case<'_>; 10] = [
            (&[(home, "home")], Some("home")),
            (&[(home, "including")], Some("included")),
            (&[(home, "empty")], None),
            (&[(home, "empty"), (xdg, "xdg")], Some("xdg")),
            (&[(home, "home"), (global, "global")], Some("global")),
            (&[(home, "root")], None),
            (&[(home, "into")], None),
            (&[(home, "root/out")], None),
            (&[(home, "home"), (xdg, "root")], None),
            (&[(home, "home"), (global, "root/.gitconfig")], None),
        ];
        for (variables, expected) in cases {
            let variable = |name: &str| {
                let set = variables.iter().find(|(variable, _)| *variable == name);
                set.map(|(_, path)| folder.join(path).into_os_string())
            };
            let user = git.user_with(&root, &variable);
            assert_eq!(user.as_deref(), expected, "{variables:?}");
        }
    }
}
