//! [`Request`]: a program to start, as a call names it.

use tools::ToolError;
use tools::protocol::Word;

use crate::command::command;
use tools::visible::visible_diff_line;

/// The line about the time after the start of a background program.
pub(crate) const BACKGROUND: &str =
    "in the background: the agent may write to it until it or the session ends";

/// A program to start.
pub(crate) struct Request {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    /// Variables in addition to those that every program gets, each as `NAME=VALUE`.
    pub(crate) env: Vec<String>,
    /// The working directory, relative to the workspace root.
    pub(crate) cwd: String,
    /// The script, if the program is a shell that runs it. The arguments have it in another form.
    pub(crate) script: Option<String>,
    pub(crate) input: Input,
}

/// The standard input of a program.
pub(crate) enum Input {
    Text(String),
    /// The agent writes it while the program runs.
    Later,
}

impl Request {
    /// Describes all that the program is told, for a person who decides about it. Nothing is cut, and invisible characters are escaped.
    pub(crate) fn describe(&self) -> Result<String, ToolError> {
        let quoted = |text: &str| Word::Known(text.to_owned()).to_string();
        let mut text = match &self.script {
            Some(script) => {
                let lines = script
                    .split('\n')
                    .map(|line| format!("\n  | {}", visible_diff_line(line)));
                let variables = self
                    .env
                    .iter()
                    .map(|variable| format!("\nvariable: {}", quoted(variable)));
                format!("runs by {}:", self.program) + &lines.chain(variables).collect::<String>()
            }
            None => {
                let command = command(&self.env, &self.program, &self.args)
                    .map_err(|error| ToolError::execution_failed(error.to_string()))?;
                format!("runs: {command}")
            }
        };
        if self.cwd != "." {
            text += &format!("\nin: {}", quoted(&self.cwd));
        }
        match &self.input {
            Input::Text(input) if input.is_empty() => {}
            Input::Text(input) => text += &format!("\nstandard input: {}", quoted(input)),
            Input::Later => text += &format!("\n{BACKGROUND}"),
        }
        Ok(text)
    }
}
