//! Judges options by their names, which usually tell whether a program runs, loads or writes what they say.

use super::row::Effect;
use crate::word_list::has_word;

/// Parts of the names of options by which programs usually run others.
const RUNS: &str = "action askpass bin binary browser callback cmd command compiler daemon editor \
    eval exec executable execute filter helper hook httpd interpreter launcher linker opener \
    pager pipe postprocessor preload preprocessor processor program renderer run runner script \
    sendmail sh shell tool viewer wrapper";
/// Parts by which programs usually load code or settings.
const LOADS: &str = "addon agent backend bootstrap cfg conf config configuration driver engine \
    extension formatter import lib library load loader macro middleware module plugin prelude \
    provider rc require setting startup";
/// Parts by which programs usually write files.
const WRITES: &str = "cookie-jar dest destination dump export extract in-place inplace log out \
    output record report save socket tee write";
/// Parts by which programs load or write a file or a folder if the name says so, as in `--log-dir` and `--pidfile`.
const LOADED_FILES: &str = "default env init rule template";
const WRITTEN_FILES: &str = "archive artifact backup baseline cache cookie coverage download \
    history junit pid profile snapshot state store target temp tmp trace";
/// The ends of such names.
const FILES: &str = "file dir directory path folder";
/// First parts of names that say what is not done.
const NEGATIONS: &str = "disable dry exclude ignore no show skip stdout without";
/// Last parts of names whose value is no program and no file, as in `--log-level`.
const PROPERTIES: &str = "color count encoding format interval level limit mode port size style \
    timeout type version width";
/// Words that are no abbreviations of the parts above.
const WHOLE: &str = "compile extra help link open process render repo set start wrap";

/// The usual short names of such options.
const SHORT: &[(&str, Effect)] = &[
    ("-c", Effect::Runs),
    ("-e", Effect::Runs),
    ("-o", Effect::Writes),
    ("-O", Effect::Writes),
];

/// Returns the effect that the name of an option tells, and the number of bytes that have to be spelled. Of a program that `is_known`, the
/// table says what its short options do. Other programs may read `@file` as a file of options.
pub(super) fn effect(word: &str, is_known: bool) -> Option<(Effect, usize)> {
    // Many programs read further arguments from such a file.
    if !is_known && word.starts_with('@') && word.len() > 1 {
        return Some((Effect::Loads, word.len()));
    }
    long(word, is_known).or_else(|| {
        let mut options = SHORT.iter();
        let (name, effect) = options.find(|(name, _)| !is_known && word.starts_with(name))?;
        Some((*effect, name.len()))
    })
}

fn long(word: &str, is_known: bool) -> Option<(Effect, usize)> {
    let end = word.find(['=', ':']).unwrap_or(word.len());
    let option = &word[..end];
    // The name and its sign have to be spelled; the value is free.
    let length = if end < word.len() { end + 1 } else { end };
    // Short options in a bundle seldom spell a part, and upper case begins the value of one, as in `-DLIB=x`.
    let (name, shortest) = match (option.strip_prefix("--"), option.strip_prefix('-')) {
        (Some(name), _) => (name, if is_known { 4 } else { 3 }),
        (None, Some(name))
            if is_known
                && (name.len() < 4 || !name.starts_with(|c: char| c.is_ascii_lowercase())) =>
        {
            return None;
        }
        (None, Some(name)) if name.len() > 2 => (name, usize::MAX),
        _ => return None,
    };
    find_effect(&parts(name)?, shortest).map(|effect| (effect, length))
}

/// Returns the parts of a name in lower case and without plurals. Returns `None` if it cannot be a name.
fn parts(name: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_break = matches!(c, '-' | '_' | '.');
        if !c.is_ascii_alphanumeric() && !is_break {
            return None;
        }
        if is_break || was_lower && c.is_ascii_uppercase() {
            parts.push(String::new());
        }
        if !is_break && let Some(last) = parts.last_mut() {
            last.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase();
    }
    for part in parts
        .iter_mut()
        // `--hooks` is `--hook`, and `css` is no plural.
        .filter(|part| part.len() > 3 && part.ends_with('s'))
    {
        part.pop();
    }
    parts.retain(|part| !part.is_empty());
    Some(parts)
}

/// Returns the effect of a name. Its last part counts as an abbreviation from this length on.
fn find_effect(parts: &[String], shortest: usize) -> Option<Effect> {
    let first = parts.first()?;
    let last = parts.last()?;
    // `--no-exec` runs nothing, and `--log-level` writes nothing.
    if has_word(NEGATIONS, first) || has_word(PROPERTIES, last) {
        return None;
    }
    let is_abbreviated = last.len() >= shortest && !has_word(WHOLE, last);
    let has = |list: &str| {
        list.split(' ').any(|name| {
            let words: Vec<&str> = name.split('-').collect();
            parts
                .windows(words.len())
                .any(|window| window.iter().zip(&words).all(|(part, word)| part == word))
                || parts.iter().any(|part| {
                    FILES
                        .split(' ')
                        .any(|end| part.strip_suffix(end) == Some(name))
                })
                || is_abbreviated && name.starts_with(&**last)
        })
    };
    let is_file = |list: &str| {
        FILES.split(' ').any(|end| {
            list.split(' ').any(|name| {
                parts.iter().any(|part| {
                    part.strip_suffix(end)
                        .is_some_and(|part| part.trim_end_matches('s') == name)
                }) || parts
                    .windows(2)
                    .any(|pair| pair[0] == name && pair[1] == end)
            })
        })
    };
    if has(RUNS) || first == "on" {
        Some(Effect::Runs)
    } else if has(LOADS) || is_file(LOADED_FILES) {
        Some(Effect::Loads)
    } else {
        (has(WRITES) || is_file(WRITTEN_FILES)).then_some(Effect::Writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_effect_of_an_option() {
        for (word, expected) in [
            ("--exec", Effect::Runs),
            ("--exec=a", Effect::Runs),
            ("--preCommand:x", Effect::Runs),
            ("--tree_filter", Effect::Runs),
            ("--shel", Effect::Runs),
            ("--hooks", Effect::Runs),
            ("-exec", Effect::Runs),
            ("-plugin", Effect::Loads),
            ("--rulesDir", Effect::Loads),
            ("--rules-dir", Effect::Loads),
            ("--ruleFile", Effect::Loads),
            ("--conf", Effect::Loads),
            ("--configfile", Effect::Loads),
            ("--cookie-jar", Effect::Writes),
            ("--log-dir", Effect::Writes),
            ("--pidfile", Effect::Writes),
            ("--targetDirectory", Effect::Writes),
            ("--reports-path=x", Effect::Writes),
            ("--outp", Effect::Writes),
        ] {
            for is_known in [true, false] {
                let length = word.find(['=', ':']).map_or(word.len(), |end| end + 1);
                assert_eq!(effect(word, is_known), Some((expected, length)), "{word}");
            }
        }
        for (word, expected) in [
            ("--sav", Effect::Writes),
            ("-Wrapper=x", Effect::Runs),
            ("-lib", Effect::Loads),
            ("@file", Effect::Loads),
            ("-o", Effect::Writes),
            ("-ofile", Effect::Writes),
            ("-O", Effect::Writes),
            ("-cx", Effect::Runs),
            ("-e", Effect::Runs),
        ] {
            assert_eq!(
                effect(word, false).map(|(effect, _)| effect),
                Some(expected),
                "{word}"
            );
            assert_eq!(effect(word, true), None, "{word}");
        }
    }

    #[test]
    fn other_names_tell_nothing() {
        for word in [
            "--help",
            "--no-config",
            "--log-level",
            "--output-format=json",
            "--dry-run",
            "--ignore-scripts",
            "--repo",
            "--open",
            "--verbose",
            "--start",
            "--stdout",
            "--extra",
            "--file",
            "--dir",
            "--target",
            "--profile",
            "-l/usr/lib",
            "exec",
            "@",
            "--",
            "-",
            "-v",
            "--recursive",
            "--show-config",
            "--cache",
            "--colour",
            "--without-plugins",
        ] {
            for is_known in [true, false] {
                assert_eq!(effect(word, is_known), None, "{word}");
            }
        }
        assert_eq!(
            (
                effect("-rc", true),
                effect("-rc", false),
                effect("-DLIB=x", true)
            ),
            (None, None, None)
        );
    }
}
