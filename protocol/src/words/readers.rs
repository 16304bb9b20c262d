//! Readers of the arguments of awk, tar and the settings of git and npm, which no table describes.

use super::row::Effect;
use super::special::Special;
use super::{Word, table};
use crate::word_list::has_word;

/// Adds each word that contains a program of awk which runs commands, reads their output, writes files or loads code. Which word is the
/// program plays no part, so a file of such a name is special too.
pub(super) fn read_awk(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let mut is_separator = false;
    for (index, word) in words.iter().enumerate().skip(command.1 + 1) {
        let Word::Known(word) = word else { continue };
        if std::mem::take(&mut is_separator) {
            continue;
        }
        // Its value is the next word, which would be taken for the program.
        is_separator = word == "-F";
        if !word.starts_with("-F") && !is_filter(word) {
            found.push(Special::whole(index, Effect::Runs, command));
        }
    }
}

/// Returns true if a program only prints.
fn is_filter(program: &str) -> bool {
    let text = without_strings(program).replace("||", " ");
    // `|` and `system` run programs, `@` calls functions by name or loads code, and `getline` reads other files.
    if text.contains(['|', '@']) || text.contains("system") || text.contains("getline") {
        return false;
    }
    // After `print` a `>` names a file. Before, it compares.
    text.find("print")
        .is_none_or(|at| !text[at..].replace(">=", " ").contains('>'))
}

/// Returns the program with a space for each string. A program with a regular expression, a comment or an escape stays as it is, because a
/// quote in it begins no string.
fn without_strings(program: &str) -> String {
    if program.contains(['/', '#', '\\', '\n']) {
        return program.to_owned();
    }
    program.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Adds `config` and the words of a call of `git config` that may set a value or read other files. Keys such as `core.pager` and
/// `alias.x` name programs, and files can be outside of the repository.
pub(super) fn read_git(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let args = &words[command.1 + 1..];
    let first = args.first().and_then(Word::known).unwrap_or_default();
    const HARMLESS: &str = "--local --global --worktree --bool --int --path set --add \
        --replace-all";
    const READS: &str = "-l --list --get --get-all --get-regexp --get-urlmatch get list";
    // A key alone prints its value.
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

/// Adds the first argument of tar if its letters are special with a dash before them: `tar xf a.tar`. Each is an option, and none takes the
/// rest as its value.
pub(super) fn read_letters(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let index = command.1 + 1;
    let Some(Word::Known(word)) = words.get(index) else {
        return;
    };
    // The table has the options with a dash.
    if word.starts_with('-') {
        return;
    }
    let Some(row) = table::row("tar") else { return };
    let effects = word
        .chars()
        .filter_map(|letter| row.effect(&format!("-{letter}")));
    // The order of `Effect` puts the worst first.
    if let Some((effect, _)) = effects.min_by_key(|(effect, _)| *effect as u8) {
        found.push(Special::whole(index, effect, command));
    }
}

#[cfg(test)]
mod tests {
    use super::is_filter;

    #[test]
    fn programs_that_only_print_are_filters_and_all_others_are_not() {
        for program in [
            "{print $1}",
            "$3 > 5 {print $1}",
            "NR==2",
            "/a/ || /b/",
            "{print $1 \"|\" $2}",
            "END {printf \"%d\", n}",
            "{s += $1} END {print s}",
            "$1 >= 2",
            "{if ($1 >= 2) print}",
        ] {
            assert!(is_filter(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"id\")}",
            "{print | \"sh\"}",
            "{print > \"f\"}",
            "{print $1 >> \"f\"}",
            "{printf(\"x\") > \"f\"}",
            "BEGIN{\"id\" | getline x}",
            "@load \"filefuncs\"",
            "/\"/ {system(\"id\")} /\"/",
            "BEGIN{f=\"system\";@f(\"id\")}",
            "BEGIN{print|\"\"|\"sh\"}",
            "{print |& \"sh\"}",
            "# \"\nBEGIN{system(1)} # \"",
        ] {
            assert!(!is_filter(program), "{program}");
        }
    }
}
