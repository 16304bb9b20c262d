//! The plainer spellings of a command, for rules that ask or deny.

use super::special::name;
use super::{Word, Words, table};

/// The most words before the program that is looked for.
const MOST: usize = 32;

impl Words {
    /// Returns the values of targets for the same command as rules spell it: without the folder of the program, without options before
    /// the subcommand, and without a program that runs it, such as `env` or `timeout`. Words that may be the value of an option are left out too, so
    /// a value can be of another command.
    pub(crate) fn plainer(&self) -> Vec<String> {
        let words = &self.words[..];
        let row = |index: usize| match &words[index] {
            Word::Known(text) => table::row(name(text)),
            _ => None,
        };
        let is_nested = row(0).is_some_and(|row| row.is_launcher);
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
    let program = Word::Known(name(program).to_owned());
    let is_option = |index: usize| match words.get(index) {
        Some(Word::Known(word)) => word.starts_with(['-', '+']),
        _ => false,
    };
    let mut starts = vec![1];
    let mut index = 1;
    while index < words.len().min(MOST) && (is_option(index) || index > 1 && is_option(index - 1)) {
        index += 1;
        starts.push(index);
    }
    let value = |start: usize| {
        let words = [program.clone()]
            .into_iter()
            .chain(words[start..].iter().cloned());
        Words::new(words).ok().map(|words| words.to_value())
    };
    starts.into_iter().filter_map(value).collect()
}
