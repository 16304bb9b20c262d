//! [`Interpreted`]: the input of a background program that can run it as code.

use tools::call::AskError;
use tools::protocol::{Access, Words};
use tools::question::AnswerKind;
use tools::visible::visible_diff_line;
use tools::{Answer, Question, ToolContext, ToolError, ToolErrorKind};

/// Programs that run commands of their input, beside those that run programs whatever their arguments are.
const INTERPRETERS: [&str; 26] = [
    "bc", "dc", "ed", "ftp", "gnuplot", "gp", "isql", "lftp", "m4", "mail", "mailx", "mariadb",
    "maxima", "mysql", "nc", "ncat", "octave", "psql", "red", "rlwrap", "sage", "sqlite",
    "sqlite3", "sqlplus", "telnet", "usql",
];

/// The input of a program that can run it as code: a shell, an interpreter, a debugger, or any program on a terminal.
pub(super) struct Interpreted {
    command: Words,
}

/// A program that only a clause for every program covers.
const ANY_PROGRAM: &str = "a-program-that-no-clause-names";

impl Interpreted {
    /// Returns `None` if the program reads its input as data.
    pub(super) fn new(command: &Words, has_terminal: bool) -> Option<Self> {
        let is_interpreter = command.iter().any(|word| {
            let name = word.known().and_then(|text| text.rsplit('/').next());
            name.is_none_or(|name| INTERPRETERS.contains(&name))
        });
        let is_code = has_terminal || is_interpreter || command.runs_programs();
        is_code.then(|| Self {
            command: command.clone(),
        })
    }

    /// Checks that a clause covers every program, and so each text. Asks the person at the host about this text otherwise.
    ///
    /// # Errors
    /// Returns an error if a rule denies the program, if the person says no or is not there, or if the text is too long to be shown.
    pub(super) async fn check(&self, cx: &ToolContext, text: &str) -> Result<(), ToolError> {
        match cx.require(Access::Write, "exec", ANY_PROGRAM) {
            Ok(()) => return Ok(()),
            Err(error) if matches!(error.kind(), ToolErrorKind::Denied { .. }) => {
                return Err(error);
            }
            Err(_) => {}
        }
        // Nothing is cut, because the person decides about all of it.
        let lines: String = text
            .split('\n')
            .map(|line| format!("\n  | {}", visible_diff_line(line)))
            .collect();
        let shown = format!(
            "May this text go to {}, which can run it?{lines}",
            self.command
        );
        let question = Question::new(shown, AnswerKind::Confirmation);
        let question = question
            .map_err(|error| refuse(&format!("{error}; write it in parts, or to a file")))?;
        match cx.ask(question).await {
            Ok(Answer::Confirmation(true)) => Ok(()),
            Ok(_) => Err(ToolErrorKind::Denied {
                reason: "the user did not agree to this text".to_owned(),
            }
            .into()),
            Err(AskError::Cancelled) => Err(ToolErrorKind::Cancelled.into()),
            Err(error) => Err(refuse(&format!(
                "a program that can run its input gets none without a yes: {error}; use exec.run, or ask the user for the clause \
                 exec:write:**"
            ))),
        }
    }
}

fn refuse(reason: &str) -> ToolError {
    ToolError::execution_failed(reason)
}
