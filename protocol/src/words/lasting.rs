//! The clauses by which a person may permit commands for good.

use super::{Word, Words, table};
use crate::word_list::has_word;

/// Programs that read files and print: their clauses take any further words, except the special ones.
const READS: &str = "cat cmp column comm cut diff du egrep fgrep find fmt fold grep head hexdump jq ls nl od paste rg \
    sort stat tail tr tree uniq wc";

/// Subcommands of git that read, or add to what is recorded. Others rewrite or remove it, or send it to other machines.
const READS_OR_ADDS: &str =
    "add blame commit describe diff grep log ls-files rev-parse shortlog show status";

/// Programs without special words that remove files or their content.
const REMOVES: &str = "fallocate mv rm rmdir truncate unlink";

impl Words {
    /// Returns the pattern of the clause that a person may write for commands as this one, so that later sessions do not ask about them:
    ///
    /// - Of a program that reads, and of a subcommand of git that reads or adds, it takes any further words.
    /// - Of another program without special words, such as `mkdir`, it is the command itself.
    ///
    /// Returns `None` for all other commands: those that remove files, run other programs or code of the workspace, or are not known.
    ///
    /// ```
    /// use protocol::Words;
    ///
    /// let pattern = |text: &str| text.parse::<Words>().map(|words| words.lasting_pattern());
    /// assert_eq!(pattern("git add -A")?.as_deref(), Some("git add **"));
    /// assert_eq!(pattern("mkdir -p out")?.as_deref(), Some("mkdir -p out"));
    /// assert_eq!((pattern("git push")?, pattern("rm out")?, pattern("make")?), (None, None, None));
    /// # Ok::<(), protocol::InvalidTarget>(())
    /// ```
    pub fn lasting_pattern(&self) -> Option<String> {
        let known: Vec<_> = self.words.iter().map(Word::known).collect::<Option<_>>()?;
        let (program, rest) = known.split_first()?;
        // A program of the workspace can have the name of a harmless one, and its content can change. One whose name only looks like that of
        // a known one, such as `rm2`, is not known.
        let row = table::row(program).filter(|row| row.has_name(program))?;
        if has_word(READS, program) {
            return Some(format!("{program} **"));
        }
        if *program == "git" {
            let sub = rest.first().filter(|sub| has_word(READS_OR_ADDS, sub))?;
            return Some(format!("git {sub} **"));
        }
        (row.is_plain() && !row.is_launcher && !has_word(REMOVES, program))
            .then(|| self.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_read_or_add_take_further_words() {
        for (text, expected) in [
            ("ls", Some("ls **")),
            ("git commit -m x", Some("git commit **")),
            ("touch 'a b'", Some("touch 'a b'")),
            ("cp a b", Some("cp a b")),
            // It removes, or sends.
            ("rm -rf out", None),
            ("mv a b", None),
            ("shred a", None),
            ("dd of=a", None),
            ("git reset --hard", None),
            ("git push", None),
            ("git -c core.pager=x status", None),
            ("git -C sub status", None),
            ("git", None),
            // It runs other programs or code.
            ("cargo test", None),
            ("sh -c ls", None),
            ("env ls", None),
            ("xargs ls", None),
            ("sed s/a/b/ c", None),
            // Its content can change.
            ("./ls", None),
            ("/tmp/cat a", None),
            ("./configure", None),
            ("/tmp/x-gnu-mkdir a", None),
            // It is not known.
            ("some-program", None),
            ("mkdir2 a", None),
            ("rm2 a", None),
            ("\"$x\" a", None),
            ("mkdir $x", None),
        ] {
            let words: Words = text.parse().unwrap();
            assert_eq!(words.lasting_pattern().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn every_listed_program_is_in_the_tables() {
        let listed = [READS, REMOVES]
            .into_iter()
            .flat_map(str::split_ascii_whitespace);
        for program in listed {
            let row = table::row(program).unwrap();
            assert!(!row.is_launcher, "{program}");
        }
    }
}
