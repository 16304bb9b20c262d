//! The user's own settings of git, which say by whom commits are and which programs run with them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::authorship::{file, place, words};

/// The variables that name a settings file of git.
const NAMED: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// The most files that include each other.
const MAX_FILES: usize = 100;

/// Other variables whose values are commands that git runs.
const COMMANDS: [&str; 4] = ["EDITOR", "PAGER", "SSH_ASKPASS", "VISUAL"];

/// Returns the user's and the system's settings files of git, those that they include under any condition, the files that a value or a
/// variable of git names, and the folders of hooks with all that is in them. They need not exist. Relative paths lie below the folder of
/// the file, and below the root if they are no plain names.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = variable("HOME");
    let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let mut files: Vec<_> = NAMED
        .into_iter()
        .filter_map(variable)
        .chain([PathBuf::from("/etc/gitconfig")])
        .collect();
    files.extend(home.as_ref().map(|home| home.join(".gitconfig")));
    files.extend(folder.map(|folder| folder.join("git/config")));
    let (mut named, mut read) = (Vec::new(), 0);
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if name.starts_with("GIT_") || COMMANDS.contains(&&*name) {
            named.extend(words(&value).filter_map(|word| file(root, word)));
        }
    }
    while read < files.len().min(MAX_FILES) {
        let path = files[read].clone();
        read += 1;
        let Ok(text) = fs::read(&path) else {
            continue;
        };
        let text = String::from_utf8_lossy(&text);
        let text = text
            .replace('\r', "")
            .replace("\\\n", "")
            .replace("\\\"", "\"");
        let folder = path.parent().unwrap_or(Path::new("/"));
        for (key, value) in text.lines().filter_map(setting) {
            let places = [folder, root].map(|folder| place(folder, plain(value)));
            match &*key {
                "path" if !files.contains(&places[0]) => files.push(places[0].clone()),
                "hookspath" | "templatedir" => {
                    named.extend(places.into_iter().flat_map(|path| [path.join("**"), path]));
                }
                _ => named.extend(words(value).flat_map(|word| {
                    let below_root = word.contains('/').then(|| file(root, word));
                    [file(folder, word), below_root.flatten()]
                        .into_iter()
                        .flatten()
                })),
            }
        }
    }
    files.extend(named);
    files
}

/// Returns the key of a line in small letters, and its value with all that follows. A section can begin on the same line.
fn setting(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let line = match line.strip_prefix('[') {
        // The name in quotes may have a bracket.
        Some(section) => match section.split_once(']')? {
            (name, _) if name.contains('"') && !name.ends_with('"') => section.split_once("\"]")?.1,
            (_, rest) => rest,
        },
        None => line,
    };
    let (key, value) = line.split_once('=')?;
    let value = value.trim();
    (!value.is_empty()).then(|| (key.trim().to_ascii_lowercase(), value))
}

/// Returns a value without quotes and comments.
fn plain(value: &str) -> &str {
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => value.split(['#', ';']).next().unwrap_or_default().trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_each_form_that_git_reads() {
        for (line, expected) in [
            ("[include] path = ~/dot/x", Some(("path", "~/dot/x"))),
            ("[include]path=x", Some(("path", "x"))),
            ("[a \"b]\"] path = x", Some(("path", "x"))),
            (
                "[alias] st = !test [ -e x ]",
                Some(("st", "!test [ -e x ]")),
            ),
            ("\tPath = \"a b\" # mine", Some(("path", "a b"))),
            ("hooksPath = hooks ; mine", Some(("hookspath", "hooks"))),
            ("st = !./st", Some(("st", "!./st"))),
            ("[user]", None),
            ("# comment", None),
            ("bare", None),
        ] {
            let found = setting(line);
            assert_eq!(
                found.as_ref().map(|(key, value)| (&**key, plain(value))),
                expected,
                "{line}"
            );
        }
    }
}
