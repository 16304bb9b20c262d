//! [`UnspelledWord`]: the word for which a clause with wildcards does not cover a command.

use std::fmt;

use super::row::Effect;
use super::special::{Special, name};
use super::{Words, table};

/// A word of a command by which the program runs another one, loads code or writes a file. A clause has to spell it.
///
/// Its text is a sentence: ``only a clause that spells `-Osh` covers this command of git grep, because the word runs a program``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnspelledWord {
    program: String,
    /// The word, quoted as in a clause and cut after 80 characters.
    pub word: String,
    effect: Effect,
}

impl UnspelledWord {
    pub(crate) fn new(words: &Words, special: &Special) -> Self {
        let text = |index: usize| name(words.words[index].known().unwrap_or_default());
        let (program, subcommand) = special.command;
        let program = if program == subcommand {
            text(program).to_owned()
        } else {
            format!("{} {}", text(program), text(subcommand))
        };
        let word: String = words.words[special.index]
            .to_string()
            .chars()
            // A word can be a whole script.
            .take(80)
            .collect();
        Self {
            program,
            word,
            effect: special.effect,
        }
    }
}

impl fmt::Display for UnspelledWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, word, .. } = self;
        let because = match self.effect {
            Effect::Runs => "it can run another program",
            Effect::Loads => "it loads settings or code",
            Effect::Writes => "it writes or removes files",
            Effect::Hidden => {
                return write!(
                    f,
                    "{program} has more words than a clause with wildcards can judge"
                );
            }
        };
        write!(
            f,
            "only a clause that spells `{word}` covers it, because with this word {program} does more: {because}"
        )
    }
}

/// Returns a few special words of the program and subcommand that a pattern begins with, for the advice about a clause with wildcards. Empty
/// if it has none.
pub(crate) fn examples(spelled: &[&str]) -> Vec<&'static str> {
    let Some((mut row, mut rest)) = spelled
        .split_first()
        .and_then(|(program, rest)| Some((table::row(name(program))?, rest)))
    else {
        return Vec::new();
    };
    let mut rows = vec![row];
    while let Some((word, after)) = rest.split_first() {
        if let Some(sub) = row.commands.iter().find(|sub| sub.has_name(word)) {
            // The words of the outer row are for other places.
            if row.is_strict {
                rows.clear();
            }
            rows.insert(0, sub);
            row = sub;
        }
        rest = after;
    }
    let forms = rows
        .into_iter()
        .flat_map(|row| [&row.runs, &row.loads, &row.writes])
        .flatten()
        .copied();
    let mut examples = Vec::new();
    for form in forms.filter(|form| form.starts_with('-') && !form.contains('*')) {
        if !examples.contains(&form) {
            examples.push(form);
        }
    }
    examples.truncate(4);
    examples
}
