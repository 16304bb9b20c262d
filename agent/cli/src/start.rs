//! [`Program::main`]: from the command line of the process to its exit code.

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::command::Cli;
use crate::exit::Exit;
use crate::{Program, notice};

impl Program {
    /// Runs the command line of the process and returns its exit code. `--help` lists the commands and the exit codes.
    ///
    /// A process runs one program: a second call, or a name of other characters, ends with an error.
    pub fn main(self) -> ExitCode {
        // Before anything else: the sandbox starts this binary again.
        #[cfg(feature = "builtin")]
        tools_builtin::exec::enter();
        let Some((name, version)) = self.install() else {
            notice::error("a program is running in this process already; call `main` once");
            return Exit::Internal.into();
        };
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_allowed) {
            notice::error(&format!("{name:?} is not a program name; use letters, digits, `-` and `_`"));
            return Exit::Internal.into();
        }
        let command = Cli::command().name(name).bin_name(name).version(version);
        let exit = match command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
            Ok(cli) => cli.run().unwrap_or_else(|error| error.report()),
            Err(usage) => {
                // A closed pipe while help is printed is not an error.
                let _ = usage.print();
                if usage.use_stderr() { Exit::Usage } else { Exit::Success }
            }
        };
        exit.into()
    }
}
