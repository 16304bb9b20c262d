//! The words of a command, which are its target.

use tools::protocol::{Access, InvalidTarget, Target, TargetError, Word, Words};

/// Returns the words of a program with its arguments. Variables stand before it, as in `env NAME=VALUE program`, so that a rule for the
/// program alone does not cover them.
pub(crate) fn command(env: &[String], program: &str, args: &[String]) -> Result<Words, TargetError> {
    if program.is_empty() {
        return Err(TargetError::Argument { field: "program".to_owned(), reason: InvalidTarget::Empty });
    }
    let variables = (!env.is_empty()).then_some("env").into_iter().chain(env.iter().map(String::as_str));
    let words = variables.chain([program]).chain(args.iter().map(String::as_str));
    Words::from_known(words).map_err(fault)
}

/// Returns a command with its standard input. A program that can run it as code gets it as a word that is not known, so that no rule and
/// no approval for the session covers it.
pub(crate) fn with_stdin(command: Words, stdin: &str) -> Result<Words, TargetError> {
    if stdin.is_empty() || !command.runs_programs() {
        return Ok(command);
    }
    Words::new(command.iter().cloned().chain([Word::Unknown("$stdin".to_owned())])).map_err(fault)
}

/// Returns the target of a command.
pub(crate) fn target(command: &Words) -> Result<Target, TargetError> {
    let target = Target::new(Access::Write, "exec", command.to_string());
    target.map_err(fault)
}

fn fault(reason: InvalidTarget) -> TargetError {
    TargetError::Argument { field: "args".to_owned(), reason }
}
