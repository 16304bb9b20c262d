//! Reads the words of tar.

use super::special::Special;
use super::{Word, table};

/// Adds the first argument of tar if its letters are special with a dash before them: `tar xf a.tar`. Each is an option, and none takes the
/// rest as its value.
pub(super) fn read_letters(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let index = command.1 + 1;
    let Some(Word::Known(word)) = words.get(index) else {
        return;
    };
    if word.starts_with('-') {
        return;
    }
    let Some(row) = table::row("tar") else { return };
    let effects = word
        .chars()
        .filter_map(|letter| row.effect(&format!("-{letter}")));
    if let Some((effect, _)) = effects.min_by_key(|(effect, _)| *effect as u8) {
        found.push(Special::whole(index, effect, command));
    }
}
