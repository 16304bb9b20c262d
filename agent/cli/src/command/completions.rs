//! `toolcrib completions`

use clap::{Args, Command};
use clap_complete::Shell;
use terminal::stdout;

use crate::error::Error;
use crate::program;
use host::exit::Exit;

/// Print the completions of this program for a shell
///
/// Save them where the shell looks for them, such as ~/.local/share/bash-completion/completions/toolcrib,
/// ~/.config/fish/completions/toolcrib.fish, or the file _toolcrib in a folder of zsh's fpath.
#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the completions of this command line.
    pub(super) fn run(&self, mut command: Command) -> Result<Exit, Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, program::name(), &mut script);
        stdout::line(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Success)
    }
}
