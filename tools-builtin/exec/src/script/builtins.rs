//! Commands that the shell itself runs.

use crate::command::has_word;

/// Words that are syntax in the place of a command, in bash or in a POSIX shell.
const RESERVED: &str = "! [[ ]] case coproc do done elif else esac fi for function if in select then time until \
    while { }";

/// Commands of bash and dash that change how the rest of a script runs, run other commands, or can do so in some shell.
const OTHERS: &str = ". alias bg bind break builtin caller chdir command compgen complete compopt continue \
    declare dirs disown enable eval exec export fc fg getopts hash help history jobs kill \
    let local logout mapfile popd pushd read readarray readonly return shift shopt source \
    suspend times trap type typeset ulimit umask unalias unset wait";

/// Returns the reason why a command makes a script opaque, if it does: it changes how the rest is read, or runs other commands.
pub(super) fn unsafe_reason(program: &str, args: &[&str]) -> Option<&'static str> {
    // Some shells calculate `a[$(command)]` where they expect a number.
    let is_evaluated = args
        .iter()
        .any(|arg| arg.contains('[') && arg.contains(['$', '`']));
    let is_safe = match program {
        "[" | "exit" | "printf" | "test" if is_evaluated => false,
        ":" | "cd" | "echo" | "exit" | "false" | "pwd" | "true" => true,
        // `-v` and `-R` evaluate the subscript of `x[$(command)]`.
        "[" | "test" => !args.iter().any(|arg| matches!(*arg, "-v" | "-R")),
        "printf" => args
            .first()
            .is_some_and(|format| !format.starts_with('-') && is_plain_format(format)),
        "set" => are_plain_options(args),
        _ if has_word(RESERVED, program) => return Some("a keyword in the place of a command"),
        _ if has_word(OTHERS, program) => false,
        // `FOO=1` is an assignment, and `%1` continues a job.
        _ if program.contains('=') => return Some("an assignment of a variable"),
        _ => !program.starts_with('%'),
    };
    (!is_safe).then_some("a command of the shell that can change how the rest is run")
}

/// Returns true if a format of `printf` sets no variable: `%n` does in bash, and `printf x%n PATH` changes which program `git` is.
fn is_plain_format(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let conversion =
            after.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        if !conversion.starts_with(['%', 'b', 'c', 'd', 'i', 'o', 'q', 's', 'u', 'x', 'X', 'f']) {
            return false;
        }
        rest = &conversion[1..];
    }
    true
}

/// Returns true for options of `set` that end a script earlier or print its commands: `-eux`, `-o pipefail`.
fn are_plain_options(args: &[&str]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(letters) = arg.strip_prefix(['-', '+']) else {
            return false;
        };
        let letters = match letters.strip_suffix('o') {
            None => letters,
            Some(rest)
                if args.next().is_some_and(|name| {
                    matches!(*name, "errexit" | "nounset" | "pipefail" | "xtrace")
                }) =>
            {
                rest
            }
            Some(_) => return false,
        };
        if (arg.len() < 2) || !letters.chars().all(|c| matches!(c, 'e' | 'u' | 'x')) {
            return false;
        }
    }
    true
}
