//! Reads programs of awk, to find those that run programs or write files.

use super::Word;
use super::row::Effect;
use super::special::Special;

/// Adds each word that contains a program of awk which runs commands, reads their output, writes files or loads code. Which word is the
/// program plays no part, so a file of such a name is special too.
pub(super) fn read(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let mut is_separator = false;
    for (index, word) in words.iter().enumerate().skip(command.1 + 1) {
        let Word::Known(word) = word else { continue };
        if std::mem::take(&mut is_separator) {
            continue;
        }
        is_separator = word == "-F";
        if !word.starts_with("-F") && !is_filter(word) {
            found.push(Special::whole(index, Effect::Runs, command));
        }
    }
}

/// Returns true if a program only prints.
fn is_filter(program: &str) -> bool {
    let text = without_strings(program).replace("||", " ");
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
