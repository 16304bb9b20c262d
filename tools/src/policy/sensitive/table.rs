//! The built-in table of sensitive paths. The README of `toolcrib-fs` lists it.

use super::SensitivePath;
use super::Sensitivity::{BuildFile, RunsByItself, Settings};

/// The note of git's files in the table.
const GIT: &str = "a part of a git repository, and git runs the hooks and the commands that its configuration names";

/// Returns true for an entry of a folder of git, in which each `HEAD` is git's own.
pub(super) fn is_folder_of_git(entry: &SensitivePath) -> bool {
    [".git/**", ".bare/**"].contains(&&*entry.pattern)
}

/// Returns true for the built-in entry of `HEAD`, not for one of a host.
pub(super) fn is_head(entry: &SensitivePath) -> bool {
    (entry.sensitivity, &*entry.note, &*entry.pattern) == (RunsByItself, GIT, "HEAD")
}

/// Reads the table: a line with a sensitivity and a note, then indented lines of patterns.
pub(super) fn paths() -> Vec<SensitivePath> {
    let mut paths = Vec::new();
    let mut sensitivity = Settings;
    let mut note = "";
    for line in include_str!("table.txt").lines() {
        match line.split_once(": ") {
            _ if line.starts_with('#') => {}
            Some((kind, text)) => {
                sensitivity = match kind {
                    "build file" => BuildFile,
                    "runs by itself" => RunsByItself,
                    _ => Settings,
                };
                note = text;
            }
            None => paths.extend(line.split_whitespace().map(|pattern| SensitivePath {
                pattern: pattern.to_owned(),
                sensitivity,
                note: note.to_owned(),
            })),
        }
    }
    paths
}
