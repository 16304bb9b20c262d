//! The commands that sessions of a person run without a question.
//!
//! Each program is one of the system or of a granted toolchain, never one of the workspace, and runs behind the walls: it sees the files that
//! the session may read, and the folders of the system, whose secrets the walls leave out. Wildcards do not cover the words by which
//! a program of the table runs another one or writes a file, such as `find -exec` and `sort -o`.
//!
//! `git` is not among them: `git status` runs `core.fsmonitor` and filters, and `git diff` drivers, of the settings of the repository, which
//! can come with the checkout, or with a bare repository in a folder below it. No options turn all of them off:
//!
//! - Settings in the environment (`GIT_CONFIG_COUNT`) win over those of the repository, but git clears them for its runs in submodules. It
//!   starts those even with `diff.ignoreSubmodules=dirty`, because `ignore = none` in `.gitmodules` wins over that; only an option wins over
//!   both. Tried with git 2.47: a `fsmonitor` in `.git/modules/sub/config` runs at `git status` and at `git diff --stat`.
//! - Objects that a partial clone lacks are fetched from the address that the repository names.
//! - A look when the session starts misses `.gitmodules` and `.gitattributes` that the session writes later, and a clause does not say in
//!   which folder its command runs.

/// The clauses, each with the reason why it is harmless.
pub(super) const COMMANDS: [(&str, &str); 16] = [
    ("exec:write:cat **", "prints files"),
    ("exec:write:cmp **", "compares files"),
    ("exec:write:cut **", "prints parts of lines"),
    ("exec:write:diff **", "compares files"),
    ("exec:write:du **", "counts the sizes of files"),
    (
        "exec:write:find **",
        "lists files; -exec, -delete and -fprint ask",
    ),
    ("exec:write:grep **", "searches in files"),
    ("exec:write:head **", "prints the beginnings of files"),
    ("exec:write:ls **", "lists folders"),
    ("exec:write:pwd", "prints the folder"),
    ("exec:write:rg **", "searches in files; --pre and -z ask"),
    ("exec:write:sort **", "sorts lines; -o asks"),
    ("exec:write:stat **", "prints the properties of files"),
    ("exec:write:tail **", "prints the ends of files"),
    (
        "exec:write:uniq **",
        "drops repeated lines; a file to write asks",
    ),
    ("exec:write:wc **", "counts lines and words"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use tools::{Clause, Target};

    fn is_covered(command: &str) -> bool {
        let target: Target = format!("exec:write:{command}").parse().unwrap();
        let mut clauses = COMMANDS
            .iter()
            .map(|(clause, _)| clause.parse::<Clause>().unwrap());
        clauses.any(|clause| clause.permits(&target))
    }

    #[test]
    fn a_harmless_command_writes_nothing_and_runs_nothing() {
        for command in [
            "find . -delete",
            "find . -exec rm '{}' +",
            "find . -execdir rm '{}' +",
            "find . -ok rm '{}' +",
            "find . -fprint out",
            "find . -fls out",
            "rg --pre ./x y",
            "rg --pr=./x y",
            "rg -z y",
            "rg --hostname-bin=./x y",
            "sort -o out in",
            "sort -uo out in",
            "sort --outp=out in",
            "sort --compress-program=./x in",
            "sort -T . in",
            "uniq in out",
            "uniq -- -in out",
            "uniq -c -- -f out",
            "./ls",
            "./cat a",
            "/tmp/cat a",
            "env ls",
            "A=b ls",
            "git status",
            "git diff --stat",
            "pwd -P x",
        ] {
            assert!(!is_covered(command), "{command}");
        }
    }

    #[test]
    fn ordinary_uses_are_covered() {
        for command in [
            "ls -la src",
            "cat a b",
            "find . -name '*.rs' -newer a",
            "rg -n TODO src",
            "grep -rn x .",
            "sort -u a",
            "uniq -c",
            "tail -n 20 a",
            "pwd",
        ] {
            assert!(is_covered(command), "{command}");
        }
    }
}
