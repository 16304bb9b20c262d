//! The plainer spellings of a command, for rules that ask or deny.

use super::special::name;
use super::{Word, Words, table};

/// Programs that run `git-push` for `git push`.
const WITH_PROGRAMS: [&str; 4] = ["cargo", "docker", "git", "kubectl"];

/// The most words before the program that is looked for.
const MOST: usize = 32;

impl Words {
    /// Returns the values of targets for the same command as rules spell it: without the folder of the program, without options before
    /// the subcommand, and without a program that runs it, such as `env` or `timeout`. Each program that no table knows may be one. Words that may be the value of an option are left out too, so
    /// a value can be of another command.
    pub(crate) fn plainer(&self) -> Vec<String> {
        let words = &self.words[..];
        let row = words[0].known().and_then(|text| table::row(name(text)));
        let is_nested = row.is_none() || self.runs_programs();
        let nested = (1..words.len().min(MOST)).filter(|_| is_nested);
        [0].into_iter()
            .chain(nested)
            .flat_map(|start| plain_options(&words[start..]))
            .collect()
    }
}

/// Returns the values of the command without its folder, with fewer and fewer of the options before its subcommand.
fn plain_options(words: &[Word]) -> Vec<String> {
    let Some(Word::Known(program)) = words.first() else {
        return Vec::new();
    };
    // `git-push` is another spelling of `git push`.
    let with_program = name(program)
        .split_once('-')
        .filter(|(program, _)| WITH_PROGRAMS.contains(program));
    if let Some((program, subcommand)) = with_program {
        let first = [program, subcommand].map(|word| Word::Known(word.to_owned()));
        let words: Vec<_> = first.iter().chain(&words[1..]).cloned().collect();
        return plain_options(&words);
    }
    let program = Word::Known(name(program).to_owned());
    let mut starts = vec![1];
    // The word after an option may be its value or the subcommand, so both readings are made.
    for index in 1..words.len().min(MOST) {
        // The program at the front is no option.
        let near = words[(index - 1).max(1)..=index].iter();
        if !near
            .filter_map(Word::known)
            .any(|word| word.starts_with(['-', '+']))
        {
            break;
        }
        starts.push(index + 1);
    }
    let values = starts.into_iter().filter_map(|start| {
        let words = [program.clone()]
            .into_iter()
            .chain(words[start..].iter().cloned());
        Words::new(words).ok().map(|words| words.to_value())
    });
    values.collect()
}
