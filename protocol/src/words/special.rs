//! Finds the special words of a command: those by which its program runs others, loads code or writes files.

use super::row::{Effect, Row};
use super::{Word, option_name, readers, sed, table};

/// Adds special words of the program and subcommand at these indices.
pub(super) type Reader = fn(&[Word], (usize, usize), &mut Vec<Special>);

/// Returns the function that finds the special words of a program that no list can describe.
pub(super) fn reader(name: &str) -> Reader {
    match name {
        "awk" => readers::read_awk,
        "git-config" => readers::read_git,
        "npm-config" => readers::read_npm,
        "sed" => sed::read,
        "tar" => readers::read_letters,
        "wrapped" => read_wrapped,
        _ => unreachable!("no code reads {name:?}"),
    }
}

/// A special word of a command. A clause covers the command only if it spells the word.
pub(crate) struct Special {
    /// The index of the word.
    pub(crate) index: usize,
    /// The number of bytes at its beginning that have to be spelled.
    pub(crate) length: usize,
    pub(crate) effect: Effect,
    /// The indices of the program and of its subcommand, if it has one.
    pub(crate) command: (usize, usize),
}

impl Special {
    /// Creates a special word that has to be spelled as a whole.
    pub(super) fn whole(index: usize, effect: Effect, command: (usize, usize)) -> Self {
        Self {
            index,
            length: usize::MAX,
            effect,
            command,
        }
    }
}

/// Returns the name of a program, without its folder.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

/// Returns true if the program is one that the search path or the system has.
fn is_of_system(program: &str) -> bool {
    !program.contains('/')
        || ["/bin/", "/usr/bin/"]
            .iter()
            .any(|folder| program.strip_prefix(folder) == Some(name(program)))
}

/// Returns the special words of a command. `is_spelled` is true for the indices of words that a clause spells: a spelled program that
/// another one runs, as in `timeout 9 git log`, has its special words too.
pub(crate) fn specials(words: &[Word], is_spelled: &dyn Fn(usize) -> bool) -> Vec<Special> {
    let mut found = Vec::new();
    let program = |index: usize| match &words[index] {
        // A program of a project can have the name of a harmless one.
        Word::Known(text) => {
            Some(table::row(name(text)).filter(|row| !row.is_exact || is_of_system(text)))
        }
        _ => None,
    };
    let Some(row) = words.first().and_then(|_| program(0)) else {
        return found;
    };
    let row = row.unwrap_or(&table::OTHERS);
    if row.is_plain() && !row.is_launcher {
        return found;
    }
    find(row, words, (0, 0), row.judges_names(), &mut found);
    let mut is_plain = row.is_plain();
    // Elsewhere, the name of a program can be any argument: an unknown one has no special words, and names tell nothing.
    let command = command_of(words);
    for index in (1..words.len()).filter(|index| is_spelled(*index)) {
        let row = match program(index) {
            Some(None) if index == command => &*table::OTHERS,
            Some(Some(row)) => row,
            _ => continue,
        };
        is_plain &= row.is_plain();
        find(
            row,
            words,
            (index, index),
            index == command && row.judges_names(),
            &mut found,
        );
    }
    let mut words = words.iter();
    if !is_plain && let Some(index) = words.position(|word| matches!(word, Word::Digest(_))) {
        // A word behind the digest may be special, and nobody sees it.
        found.push(Special::whole(index, Effect::Hidden, (0, 0)));
    }
    found
}

/// Returns the index of the program that is run in the end, as in `sudo timeout 9 git log`.
fn command_of(words: &[Word]) -> usize {
    let mut start = 0;
    while let Some(index) = find_wrapped(&words[start..]) {
        start += index;
    }
    start
}

/// Returns the index of the command that the first program runs, if it is known to run one.
pub(crate) fn find_wrapped(words: &[Word]) -> Option<usize> {
    let row = table::row(name(words.first()?.known()?))?;
    if row.has_name("python") {
        let module = 1 + words.iter().position(|word| word.known() == Some("-m"))?;
        return words
            .get(module)
            .is_some_and(Word::is_known)
            .then_some(module);
    }
    let mut operands = row.wraps?;
    let mut index = 1;
    while let Some(Word::Known(word)) = words.get(index) {
        if word.starts_with('-') && word.len() > 1 {
            index += usize::from(row.takes_next(word));
        // `env` and `sudo` take assignments before the command.
        } else if !row.runs.contains(&"=") || !word.contains('=') {
            if operands == 0 {
                return Some(index);
            }
            operands -= 1;
        }
        index += 1;
    }
    None
}

/// Adds the command that the program runs, which can also do without one.
fn read_wrapped(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    found.extend(find_wrapped(&words[command.0..]).map(|index| Special {
        index: command.0 + index,
        length: usize::MAX,
        effect: Effect::Runs,
        command,
    }));
}

/// Adds the special words of the program and subcommand at these indices. `by_name` is true if its options are judged by their names, too.
fn find(
    row: &Row,
    words: &[Word],
    command: (usize, usize),
    by_name: bool,
    found: &mut Vec<Special>,
) {
    let from = command.1 + 1;
    let candidates = if row.commands.is_empty() {
        Vec::new()
    } else {
        subcommands(row, words, from)
    };
    let end = match candidates.last() {
        // The options behind a subcommand are its own.
        Some(last) if row.is_strict => *last,
        _ => words.len(),
    };
    // What follows `--` is for the program that a launcher runs.
    let separator = words
        .iter()
        .position(|word| row.is_launcher && word.known() == Some("--"));
    let judged = if by_name {
        separator.unwrap_or(words.len())
    } else {
        0
    };
    for (index, word) in (from..end).filter_map(|index| Some((index, words[index].known()?))) {
        let is_judged = index < judged && !row.is_plain_word(word);
        let mut special = row.effect(word);
        if special.is_none() && is_judged {
            special = option_name::effect(word, !row.names.is_empty());
        }
        if special.is_none() && index > from {
            let before = words[index - 1].known();
            special = before.and_then(|before| row.effect_of_value(before, word));
        }
        if let Some((effect, length)) = special {
            found.push(Special {
                index,
                length,
                effect,
                command,
            });
        }
    }
    let mut is_known = false;
    for (index, word) in candidates
        .iter()
        .filter_map(|index| Some((*index, words[*index].known()?)))
    {
        // Programs other than git may take abbreviations.
        let sub = row.commands.iter().find(|sub| {
            if row.is_strict {
                sub.has_name(word)
            } else {
                sub.may_have_name(word)
            }
        });
        let Some(sub) = sub else {
            continue;
        };
        is_known = true;
        if let Some(effect) = sub.itself {
            found.push(Special {
                index,
                length: word.len(),
                effect,
                command: (command.0, index),
            });
        }
        find(
            sub,
            words,
            (command.0, index),
            by_name && row.is_strict,
            found,
        );
    }
    // An alias or an extension can have the name of the subcommand.
    if let Some(&index) = candidates.last().filter(|_| row.is_strict && !is_known) {
        found.push(Special::whole(index, Effect::Runs, command));
        find(&table::OTHERS, words, (command.0, index), by_name, found);
    }
    if let Some(most) = row.operands {
        find_operands(row, words, command, most, found);
    }
    if let Some(reader) = row.reader {
        reader(words, command, found);
    }
}

/// Returns the indices of the words that can be the subcommand: the first that is no option, and the next ones after an option that may have
/// a value.
fn subcommands(row: &Row, words: &[Word], from: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut may_be_value = false;
    for (index, word) in words.iter().enumerate().skip(from) {
        let Word::Known(word) = word else { break };
        // `+` names a toolchain of cargo. An unknown option may take the next word as its value, so the word behind that counts, too.
        if word.starts_with(['-', '+']) {
            may_be_value =
                word.starts_with('-') && !word.contains('=') && !row.plain.contains(&&**word);
            continue;
        }
        found.push(index);
        if !may_be_value {
            break;
        }
        may_be_value = false;
    }
    found
}

/// Adds the operands after the first `most`.
fn find_operands(
    row: &Row,
    words: &[Word],
    command: (usize, usize),
    most: usize,
    found: &mut Vec<Special>,
) {
    let mut count = 0;
    let mut is_value = false;
    let mut may_be_option = true;
    for (index, word) in words.iter().enumerate().skip(command.1 + 1) {
        let Word::Known(word) = word else { continue };
        if std::mem::take(&mut is_value) {
            continue;
        }
        if may_be_option && word.starts_with('-') && word.len() > 1 {
            is_value = row.takes_next(word);
            may_be_option = word != "--";
            continue;
        }
        count += 1;
        // `-` is the standard output.
        if count > most && word != "-" {
            found.push(Special::whole(index, Effect::Writes, command));
        }
    }
}
