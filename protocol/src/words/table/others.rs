//! The row of all programs that the table does not know.

use crate::words::Word;
use crate::words::row::{Effect, Row};
use crate::words::special::Special;

/// The row of other programs: their options are judged by their names.
pub(in crate::words) const OTHERS: Row = Row::of("").reader(read);

/// Parts of the names of long options by which programs usually run others.
const RUNS: &[&str] = &[
    "bin", "browser", "cmd", "command", "editor", "eval", "exec", "execute", "hook", "interpreter", "launcher",
    "pager", "preload", "preprocessor", "program", "script", "shell", "wrapper",
];
/// Parts by which programs usually load code or settings.
const LOADS: &[&str] = &[
    "config", "configuration", "conf", "engine", "extension", "import", "initfile", "load", "module", "plugin",
    "rcfile", "require", "rulesdir", "settings",
];
/// Parts by which programs usually write files.
const WRITES: &[&str] = &[
    "dump", "export", "inplace", "logfile", "out", "outdir", "outfile", "output", "save", "write", "destination",
    "record", "dest",
];
/// Names that have such a part and no such effect.
const HARMLESS: &[&str] = &["--log-format", "--log-level", "--output-format", "--stdout", "--without"];

fn read(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    for (index, word) in words.iter().enumerate().skip(command.1 + 1) {
        if let Word::Known(word) = word
            && let Some((effect, length)) = effect(word)
        {
            found.push(Special { index, length, effect, command });
        }
    }
}

fn effect(word: &str) -> Option<(Effect, usize)> {
    if word.starts_with("-o") {
        return Some((Effect::Writes, 2));
    }
    let name = word.split('=').next().unwrap_or_default();
    let length = if name.len() < word.len() { name.len() + 1 } else { name.len() };
    let parts = name
        .strip_prefix("--")
        .filter(|name| !name.starts_with("no-") && !HARMLESS.contains(&&*format!("--{name}")))?;
    // The last part may be abbreviated, and plurals count.
    let is_in = |list: &[&str]| {
        parts.split(['-', '_', '.']).any(|part| {
            let part = part.to_ascii_lowercase();
            let is_one = |name: &&str| {
                part.trim_end_matches('s') == name.trim_end_matches('s') || part.len() > 2 && name.starts_with(&part)
            };
            list.iter().any(is_one)
        })
    };
    let lists = [(Effect::Runs, RUNS), (Effect::Loads, LOADS), (Effect::Writes, WRITES)];
    lists.into_iter().find(|(_, list)| is_in(list)).map(|(effect, _)| (effect, length))
}
