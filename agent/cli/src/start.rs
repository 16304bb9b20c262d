//! [`Program::main`]: from the command line of the process to its exit code.

use std::env;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::{ContextKind, ContextValue};

use crate::command::{self, Cli};
use crate::program::Program;
use crate::{notice, program};
use host::exit::Exit;

impl Program {
    /// Runs the command line of the process and returns its exit code. `--help` lists the commands and the exit codes.
    ///
    /// A process runs one program: a second call, or a name of other characters, ends with an error.
    pub fn main(self) -> ExitCode {
        // Before anything else: the sandbox starts this binary again.
        host::start();
        let Some((name, _)) = self.install(notice::warning, notice::note) else {
            notice::error("a program is running in this process already; call `main` once");
            return Exit::Internal.into();
        };
        let mut characters = name.chars();
        if name.is_empty() || !characters.all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
            notice::error(&format!(
                "{name:?} is not a program name; use letters, digits, `-` and `_`"
            ));
            return Exit::Internal.into();
        }
        let mut command = Cli::command_line();
        // Commands are built when they are named. The list of all needs their descriptions.
        if env::args_os()
            .nth(1)
            .is_none_or(|word| command.find_subcommand(word).is_none())
        {
            command.get_subcommands_mut().for_each(clap::Command::build);
            command = command::with_groups(command);
        }
        let exit = match command
            .try_get_matches()
            .and_then(|matches| Cli::from_arg_matches(&matches))
        {
            Ok(cli) => cli.run().unwrap_or_else(|error| error.report()),
            Err(usage) => {
                // A closed pipe while help is printed is not an error.
                let _ = usage.print();
                tool_hint(&usage).iter().for_each(|hint| notice::hint(hint));
                // Help and the version are no mistakes.
                Exit::Usage.when(usage.use_stderr())
            }
        };
        exit.into()
    }
}

/// Returns the hint about a word that is no command, if it names a tool by itself or with the command before it.
fn tool_hint(usage: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(word)) = usage.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let words: Vec<_> = env::args_os().collect();
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let before = pairs.find(|(_, next)| *next == word.as_str());
    let joined = before.map(|(before, _)| format!("{}.{word}", before.to_string_lossy()));
    let mut names = joined.into_iter().chain([word.clone()]);
    let name = names.find(|name| tools::get(name).is_ok())?;
    let program = program::name();
    Some(format!(
        "{name} is a tool; {program} show {name} describes it, and {program} call {name} calls it"
    ))
}
