//! Reads the words of `git config` and `npm config`.

use super::Word;
use super::row::Effect;
use super::special::Special;
use crate::word_list::has_word;

/// Adds `config` and the words of a call of `git config` that may set a value or read other files. Keys such as `core.pager` and
/// `alias.x` name programs, and files can be outside of the repository.
pub(super) fn read_git(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let args = &words[command.1 + 1..];
    let first = match args.first() {
        Some(Word::Known(first)) => first,
        _ => "",
    };
    const HARMLESS: &str = "--local --global --worktree --bool --int --path set --add \
        --replace-all";
    const READS: &str = "-l --list --get --get-all --get-regexp --get-urlmatch get list";
    let is_key = args.len() == 1 && first.contains('.') && !first.starts_with('-');
    if is_key || has_word(READS, first) {
        return;
    }
    for (index, word) in words.iter().enumerate().skip(command.1) {
        let Word::Known(word) = word else { continue };
        if index > command.1 && has_word(HARMLESS, word) {
            continue;
        }
        found.push(Special {
            index,
            length: word.len(),
            effect: Effect::Loads,
            command,
        });
        // The value of a key that is spelled is free.
        if index > command.1 && word.contains('.') {
            break;
        }
    }
}

/// Adds the subcommand of `npm config` or `npm pkg`, unless it only reads: settings such as `script-shell` and the scripts of a package are programs.
pub(super) fn read_npm(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let next = words.get(command.1 + 1);
    let only_reads =
        matches!(next, Some(Word::Known(word)) if ["get", "list", "ls"].contains(&&**word));
    if !only_reads {
        found.push(Special::whole(command.1, Effect::Loads, command));
    }
}
