//! Commands that run other programs.

use super::lexer::lex;
use super::row::Effect;
use super::special::{name, specials};
use super::{Word, Words, table};

impl Words {
    /// Returns true if the command is known to run other programs or code that its words contain or name, as `sh -c`, `env`, `xargs`,
    /// `find -exec`, `git -c`, `ssh` and `make` do. Consent to it is consent to whatever these run. Unknown words count as the worst.
    ///
    /// This is a remark for people from a table of well-known programs, and no wall: any other program can run programs, too.
    ///
    /// ```
    /// use protocol::Words;
    ///
    /// let runs = |text: &str| text.parse::<Words>().map(|words| words.runs_programs());
    /// assert_eq!((runs("find . -name a"), runs("find . -exec rm {} +").is_err()), (Ok(false), true));
    /// assert_eq!((runs("find . -exec rm '{}' +"), runs("/usr/bin/python3.12 a.py")), (Ok(true), Ok(true)));
    /// # Ok::<(), protocol::InvalidTarget>(())
    /// ```
    pub fn runs_programs(&self) -> bool {
        runs_programs(&self.words)
    }
}

/// Returns true if the pattern spells a command that is known to run other programs, or is about every program.
pub(crate) fn pattern_runs_programs(pattern: &str) -> bool {
    let Ok(words) = lex(pattern, true) else {
        return false;
    };
    let is_every = words.first().is_some_and(|first| !first.stars.is_empty());
    // The pattern covers no command with a special word that it does not spell.
    let spelled = words
        .into_iter()
        .filter(|lexed| lexed.stars.is_empty())
        .map(|lexed| lexed.word);
    is_every || runs_programs(&spelled.collect::<Vec<_>>())
}

fn runs_programs(words: &[Word]) -> bool {
    let Some(Word::Known(program)) = words.first() else {
        return true;
    };
    let Some(row) = table::row(name(program)) else {
        return false;
    };
    row.is_launcher
        // An unknown word may be the option that runs a program.
        || row.may_run() && words.iter().any(|word| !matches!(word, Word::Known(_)))
        || specials(words, &|_| false)
            .iter()
            .any(|special| special.effect != Effect::Writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_run_others_are_recognised() {
        for (text, expected) in [
            ("sh -c ls", true),
            ("/bin/bash", true),
            ("env A=b ls", true),
            ("python3.12 -m x", true),
            ("python3 x", true),
            ("gcc-12 a.c", false),
            ("xargs rm", true),
            ("find . -name a -print", false),
            ("find . -execdir rm '{}' +", true),
            ("find . $x", true),
            ("git status", false),
            ("git -c core.pager=x log", true),
            ("git -ccore.pager=x log", true),
            ("git clone ext::sh", true),
            ("git submodule foreach ls", true),
            ("tar xf a.tar", false),
            ("tar xf a.tar --to-command=sh", true),
            ("tar xf a.tar --to-com=sh", true),
            ("tar cf a.tar --use-compress-prog sh", true),
            ("tar xf a.tar --touch", false),
            ("tar xf a.tar --", false),
            ("sort --compress-prog sh", true),
            ("sort --check=quiet -- a", false),
            ("git ls-remote --upload-pa=sh a", true),
            ("git log --patch -- a", false),
            ("find . -e", false),
            ("make", true),
            ("ssh host ls", true),
            ("ls -la", false),
            ("\"$program\" a", true),
            ("$program", true),
            ("echo $x", false),
        ] {
            assert_eq!(
                text.parse::<Words>().unwrap().runs_programs(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_pattern_counts_as_the_worst_command_that_it_covers() {
        for (pattern, expected) in [
            ("**", true),
            ("* --version", true),
            ("git status", false),
            ("git **", false),
            ("git -c **", true),
            ("git log *", false),
            ("echo **", false),
            ("cargo test **", true),
            ("python3", true),
        ] {
            assert_eq!(pattern_runs_programs(pattern), expected, "{pattern}");
        }
    }
}
