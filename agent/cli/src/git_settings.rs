//! The user's own settings of git, which say by whom commits are and which programs run with them.

use std::fs;
use std::path::{Path, PathBuf};

/// The variables that name a settings file of git.
const NAMED: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// The most files that include each other.
const MAX_FILES: usize = 100;

/// Returns the user's and the system's settings files of git, those that they include under any condition, the files that are a value of
/// a setting, and the folders of hooks with all that is in them. They need not exist.
pub(crate) fn files() -> Vec<PathBuf> {
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
    while read < files.len().min(MAX_FILES) {
        let file = files[read].clone();
        read += 1;
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        let folder = file.parent().unwrap_or(Path::new("/"));
        for (key, value) in text.lines().filter_map(setting) {
            let path = match (value.strip_prefix("~/"), &home) {
                (Some(below), Some(home)) => home.join(below),
                _ => folder.join(value),
            };
            match &*key {
                "path" if !files.contains(&path) => files.push(path),
                "hookspath" | "templatedir" => named.extend([path.join("**"), path]),
                _ if path.is_file() => named.push(path),
                _ => {}
            }
        }
    }
    files.extend(named);
    files
}

/// Returns the key of a line in small letters, and its value. A section can begin on the same line.
fn setting(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let line = if line.starts_with('[') {
        line.rsplit_once(']')?.1
    } else {
        line
    };
    let (key, value) = line.split_once('=')?;
    let value = value.trim().trim_start_matches('!');
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => value.split(['#', ';']).next().unwrap_or_default().trim(),
    };
    (!value.is_empty()).then(|| (key.trim().to_ascii_lowercase(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_each_form_that_git_reads() {
        for (line, expected) in [
            ("[include] path = ~/dot/x", Some(("path", "~/dot/x"))),
            ("[include]path=x", Some(("path", "x"))),
            ("\tPath = \"a b\" # mine", Some(("path", "a b"))),
            ("hooksPath = hooks ; mine", Some(("hookspath", "hooks"))),
            ("st = !./st", Some(("st", "./st"))),
            ("[user]", None),
            ("# comment", None),
            ("bare", None),
        ] {
            let found = setting(line);
            assert_eq!(
                found.as_ref().map(|(key, value)| (&**key, *value)),
                expected,
                "{line}"
            );
        }
    }
}
