//! [`Launch`]: which program to start, and how.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

/// A program to start, with its arguments, its directory and its whole environment.
#[derive(Clone, Serialize, Deserialize)]
#[must_use]
pub struct Launch {
    /// The program. A name without `/` is looked up in `PATH` of the given environment.
    pub program: OsString,
    /// `argv[0]`, which is otherwise the program.
    pub name: Option<OsString>,
    /// The arguments.
    pub args: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory, which is otherwise that of this process.
    pub cwd: Option<PathBuf>,
    /// True if the kernel ends the program and all its descendants when their supervisor dies, as after
    /// `bwrap --unshare-pid --die-with-parent`. This only changes what [`SupervisorLost`](super::SupervisorLost) reports.
    pub ends_with_parent: bool,
    /// Gives the program a pseudo-terminal as its standard streams. What it writes to standard error arrives at the collector of standard
    /// output. The program controls the terminal only if it, or a wall around it, takes it.
    pub has_terminal: bool,
    /// The gate, through which the program gets its standard input and the caller gets a listener.
    #[cfg(target_os = "linux")]
    #[serde(skip)]
    pub gate: Option<crate::walls::Gate>,
}

impl Launch {
    /// A program without arguments and with an empty environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            name: None,
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            ends_with_parent: false,
            has_terminal: false,
            #[cfg(target_os = "linux")]
            gate: None,
        }
    }

    /// Takes program, arguments, directory and the variables that were set explicitly. The standard library does not tell a
    /// changed `argv[0]`; repeat it in `name`.
    pub fn from_command(command: &Command) -> Self {
        let env = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        Self {
            args: command.get_args().map(OsStr::to_owned).collect(),
            env: env.collect(),
            cwd: command.get_current_dir().map(Path::to_owned),
            ..Self::new(command.get_program())
        }
    }

    /// Appends arguments.
    pub fn with_args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds a variable to the environment, which is empty otherwise.
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Returns the command, which has a process group of its own.
    #[cfg(target_os = "linux")]
    pub(super) fn to_command(&self) -> Command {
        use std::os::unix::process::CommandExt as _;

        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .process_group(0);
        self.name.as_ref().map(|name| command.arg0(name));
        self.cwd.as_ref().map(|cwd| command.current_dir(cwd));
        command
    }
}

/// Leaves out the values of variables, which may be secrets.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let env: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        let mut launch = f.debug_struct("Launch");
        launch
            .field("program", &self.program)
            .field("name", &self.name)
            .field("args", &self.args);
        launch
            .field("env", &env)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
