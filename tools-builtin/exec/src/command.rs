//! The words of a command, which are its target.

use tools::protocol::{Access, InvalidTarget, Target, TargetError, Word, Words};

/// The advice about a program with its arguments in one text.
pub(crate) const WORDS_IN_ARGS: &str = "pass the words after the first in `args`";

/// Returns the words of a program with its arguments. Variables stand before it, as in `env NAME=VALUE program`, so that a rule for the
/// program alone does not cover them.
pub(crate) fn command(
    env: &[String],
    program: &str,
    args: &[String],
) -> Result<Words, TargetError> {
    if program.is_empty() {
        return Err(TargetError::argument("program", InvalidTarget::Empty));
    }
    // A shell would split it. A file of this name is rare, and its path has a slash.
    if program.contains(' ') && !program.contains('/') {
        let reason = InvalidTarget::Words {
            value: program.chars().take(80).collect(),
            reason: WORDS_IN_ARGS,
        };
        return Err(TargetError::argument("program", reason));
    }
    let words = variables(env)
        .chain([program])
        .chain(args.iter().map(String::as_str));
    Words::from_known(words).map_err(fault)
}

/// Returns the words that set variables for the command after them, or none if there are no variables.
pub(crate) fn variables(env: &[String]) -> impl Iterator<Item = &str> {
    let program = (!env.is_empty()).then_some("env");
    program.into_iter().chain(env.iter().map(String::as_str))
}

/// Returns a command with its standard input. A program that can run it as code gets it as a word that is not known, so that no rule and
/// no approval for the session covers it.
pub(crate) fn with_stdin(command: Words, stdin: &str) -> Result<Words, TargetError> {
    if stdin.is_empty() || !command.runs_programs() {
        return Ok(command);
    }
    let stdin = Word::Unknown("$stdin".to_owned());
    Words::new(command.iter().cloned().chain([stdin])).map_err(fault)
}

/// Returns the target of a command.
pub(crate) fn target(command: &Words) -> Result<Target, TargetError> {
    let target = Target::new(Access::Write, "exec", command.to_string());
    target.map_err(fault)
}

fn fault(reason: InvalidTarget) -> TargetError {
    TargetError::argument("args", reason)
}

/// Returns true if the list has this word. Single spaces separate its words.
pub(crate) fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_its_arguments_in_one_text_is_refused_with_advice() {
        let error = command(&[], "ls -l", &[]).unwrap_err().to_string();
        assert!(
            error.contains("`program`") && error.contains("`args`"),
            "{error}"
        );
        assert_eq!(
            command(&[], "./my tool", &[]).unwrap().to_string(),
            "'./my tool'"
        );
        assert_eq!(
            command(&[], "ls", &["a b".to_owned()]).unwrap().to_string(),
            "ls 'a b'"
        );
    }
}
