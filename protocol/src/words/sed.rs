//! Reads scripts of sed, to find those that run programs or write files.

use super::Word;
use super::row::Effect;
use super::special::Special;

/// Adds the options of sed that are more than filters, and each script that is not certain to be one: the commands `e`, `w` and `W`, the
/// flags `e` and `w` of `s`, and all that is not understood.
pub(super) fn read(words: &[Word], command: (usize, usize), found: &mut Vec<Special>) {
    let mut special = |index, length, effect| {
        found.push(Special {
            index,
            length,
            effect,
            command,
        })
    };
    let mut operands = Vec::new();
    let mut has_script = false;
    let mut is_script = false;
    for (index, word) in words.iter().enumerate().skip(command.1 + 1) {
        let Word::Known(word) = word else { continue };
        if std::mem::take(&mut is_script) {
            if !is_filter(word) {
                special(index, usize::MAX, Effect::Runs);
            }
            continue;
        }
        match &**word {
            "-" | "--" => operands.push((index, word)),
            "-n" | "-r" | "-E" | "-s" | "-u" | "-z" | "-b" | "--quiet" | "--silent"
            | "--regexp-extended" | "--separate" | "--unbuffered" | "--null-data"
            | "--zero-terminated" | "--posix" | "--sandbox" | "--help" | "--version" => {}
            "-e" | "-ne" | "-rne" | "-nre" | "-nEe" | "-Ene" | "-Ee" | "-re" | "--expression" => {
                (has_script, is_script) = (true, true);
            }
            word if word.starts_with("--expression=") => {
                has_script = true;
                if !is_filter(&word["--expression=".len()..]) {
                    special(index, usize::MAX, Effect::Runs);
                }
            }
            "-nr" | "-rn" | "-nE" | "-En" | "-nz" | "-zn" | "-Ez" | "-zE" | "-rz" | "-zr" => {}
            word if word.starts_with("-i")
                || "--in-place".starts_with(word)
                || word.starts_with("--in-place=") =>
            {
                let length = if word.starts_with("--") {
                    word.len()
                } else {
                    2
                };
                special(
                    index,
                    // The suffix of the backup can name another folder, so it has to be spelled as well.
                    if word[length..].contains(['/', '*']) {
                        usize::MAX
                    } else {
                        length
                    },
                    Effect::Writes,
                );
            }
            // Files of commands, and bundles that are not understood.
            word if word.starts_with('-') => special(index, usize::MAX, Effect::Runs),
            _ => operands.push((index, word)),
        }
    }
    let script = operands.into_iter().find(|(_, word)| *word != "--");
    if let Some((index, script)) = script.filter(|_| !has_script)
        && !is_filter(script)
    {
        special(index, usize::MAX, Effect::Runs);
    }
}

/// Returns true if a script only edits the text that it passes on.
fn is_filter(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(next) = command(rest) else {
            return false;
        };
        rest = next;
    }
}

/// Returns the text after the first command of a script. Returns `None` if it is not certain to be harmless.
fn command(script: &str) -> Option<&str> {
    let mut rest = address(script)?;
    if let Some(second) = rest.trim_start().strip_prefix(',') {
        let second = second.trim_start();
        rest = address(second.strip_prefix(['+', '~']).unwrap_or(second))?;
    }
    let rest = rest.trim_start_matches([' ', '\t', '!']);
    let (name, rest) = rest.split_at_checked(1)?;
    match name {
        "{" => Some(rest),
        "p" | "d" | "D" | "P" | "n" | "N" | "g" | "G" | "h" | "H" | "x" | "=" | "z" | "F" | "q"
        | "Q" | "l" => {
            let rest = rest
                .trim_start_matches([' ', '\t'])
                .trim_start_matches(|c: char| c.is_ascii_digit());
            end(rest)
        }
        // Whether a label ends before `}` differs from sed to sed.
        "b" | "t" | "T" | ":" => {
            let rest = rest
                .trim_start_matches(' ')
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
            (rest.is_empty() || rest.starts_with(['\n', ';'])).then_some(rest)
        }
        // Text to the end of the line. A text of several lines has a `\` at the ends, and is not read.
        "a" | "i" | "c" | "#" | "r" | "R" => {
            let (line, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            (!line.ends_with('\\') || rest.is_empty()).then_some(rest)
        }
        "s" | "y" => {
            let delimiter = rest
                .chars()
                .next()
                .filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
            let rest = skip_past(&rest[1..], delimiter)?;
            let rest = skip_past(rest, delimiter)?;
            let flags: &[char] = if name == "s" {
                &['g', 'p', 'i', 'I', 'm', 'M']
            } else {
                &[]
            };
            end(rest.trim_start_matches(|c: char| {
                flags.contains(&c) || name == "s" && c.is_ascii_digit()
            }))
        }
        _ => None,
    }
}

/// Returns the text after an address, if the text begins with one.
fn address(text: &str) -> Option<&str> {
    let rest = match text.chars().next()? {
        '0'..='9' | '$' => {
            text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '~'))
        }
        '/' => skip_past(&text[1..], '/')?.trim_start_matches(['I', 'M']),
        '\\' => {
            let delimiter = text[1..]
                .chars()
                .next()
                .filter(char::is_ascii_punctuation)?;
            skip_past(&text[2..], delimiter)?.trim_start_matches(['I', 'M'])
        }
        _ => return Some(text),
    };
    Some(rest.trim_start_matches([' ', '\t']))
}

/// Returns the text after the next delimiter that has no `\` before it. Brackets and line breaks are not read, since in brackets a delimiter
/// can mean itself.
fn skip_past(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.char_indices();
    let mut has_bracket = false;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            '\n' => return None,
            c if c == delimiter => return (!has_bracket).then(|| &text[at + 1..]),
            '[' => {
                let class = text[at..].split_once(']').map(|(class, _)| class);
                has_bracket |= class
                    .is_none_or(|it| matches!(it, "[" | "[^") || it.contains([delimiter, '\\']));
            }
            _ => {}
        }
    }
    None
}

/// Returns the text of the next command.
fn end(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\t']);
    (rest.is_empty() || rest.starts_with(['\n', ';', '}', '#'])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::is_filter;

    #[test]
    fn scripts_that_only_edit_are_filters_and_all_others_are_not() {
        for script in [
            "5p",
            "1,5p",
            "$d",
            "/a/,/b/d",
            "s/a/b/",
            "s/a/b/gI2p",
            "s|a|b|;s/c/d/",
            "/x/!d",
            r"s/\(a\)/\1/",
            "1~2p",
            "n;d",
            "/a/{s/b/c/;p}",
            ":a;N;$!ba;s/ /x/g",
            "y/abc/xyz/",
            "10q",
            "s/[a-z]*$//",
            "1i text",
            "=",
            r"\,a,d",
            "s,a/b,c,",
        ] {
            assert!(is_filter(script), "{script}");
        }
        for script in [
            "e",
            "1e",
            "e id",
            "1e id",
            "w f",
            "W f",
            "1,5w f",
            "s/a/id/e",
            "s/a/b/w f",
            "s/a/b/gw f",
            "s/a/b/ge",
            "s/a/b/pe",
            "p;e",
            "/a/e",
            "s/a/b/;e id",
            "{e}",
            "s/[/]/e",
            "s/[/]/x/;e id",
            "s/a/b\n/e",
            r"1i a\
e id",
            "}e",
            "!e",
            "$!e",
            "1,/a/e",
            "s\na\nb\ne",
            r"s/[\]/]/b/e",
            "v",
            "s/x/y/M e",
            "M",
            ":a}s/;e id;/x/",
            "ba}s/;e id;/x/",
            "s/[]/]/e/",
            "a\\\ne id",
            "0~4e",
        ] {
            assert!(!is_filter(script), "{script}");
        }
    }
}
