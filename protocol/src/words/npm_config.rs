//! Reads the words of `npm config` and `npm pkg`.

use super::Word;
use super::row::Effect;
use super::special::Special;

/// Adds the subcommand unless it only reads: settings such as `script-shell` and the scripts of a package are programs.
pub(super) fn read(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let next = words.get(command.1 + 1);
    let only_reads =
        matches!(next, Some(Word::Known(word)) if ["get", "list", "ls"].contains(&&**word));
    if !only_reads {
        let effect = Effect::Loads;
        found.push(Special {
            index: command.1,
            length: usize::MAX,
            effect,
            command,
        });
    }
}
