//! [`IgnoreRules`]: the rules of the ignore files that apply to a directory.

use std::io::{self, Read};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, ToolContext, ToolError};

use tools_text::MARK;

use crate::error::FsError;
use crate::files::Files;
use crate::ignore_rule::{IgnoreRule, ParsedLine};
use crate::path::RelativePath;
use crate::resolved_entry::open_file;

/// The names of ignore files. Later ones take precedence.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// The number of bytes read of an ignore file.
const MAX_FILE: usize = 64 * 1024;

/// The maximum total length of the patterns of a directory and its ancestors, in bytes, and the maximum number of them.
const MAX_TEXT: usize = 256 * 1024;
const MAX_RULES: usize = 8 * 1024;

/// The matching work between two checks for cancellation: bytes of a pattern times bytes of a path.
const UNINTERRUPTED: usize = 1 << 20;

/// The rules of the ignore files of a directory and its ancestors. They also exclude `.git`.
///
/// - The files are read through directory handles, if the grant covers them. Links are not followed.
/// - Memory is bounded. If the limits are reached, rules nearer to the root are kept.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules {
    /// The rules of each directory, from the root down.
    levels: Vec<DirRules>,
    text: usize,
    rules: usize,
    cut: Count,
    faulty: Count,
    unread: Count,
}

/// The rules of one directory.
#[derive(Debug)]
struct DirRules {
    /// The length of the prefix that the directory contributes to paths below it.
    length: usize,
    rules: Vec<IgnoreRule>,
    text: usize,
}

/// A number of occurrences, with the path of the first one.
#[derive(Debug, Default)]
struct Count {
    times: u64,
    first: Option<RelativePath>,
}

impl IgnoreRules {
    /// Reads the ignore files of all ancestors of a directory.
    pub(crate) fn from_ancestors(files: Files<'_>, path: &RelativePath) -> Self {
        let mut ignored = Self::default();
        let mut current = files.workspace.dir().try_clone().ok();
        for (index, name) in path.names().enumerate() {
            let Some(dir) = current else { break };
            ignored.enter(files.cx, &dir, &path.prefix(index), |_| true);
            current = dir.open_dir_nofollow(name).ok();
        }
        ignored
    }

    /// Reads and adds the rules of a directory. `may_have` is false for names that it does not have.
    pub(crate) fn enter(
        &mut self,
        cx: &ToolContext,
        dir: &Dir,
        path: &RelativePath,
        may_have: impl Fn(&str) -> bool,
    ) {
        let length = if path.is_root() {
            0
        } else {
            path.as_str().len() + 1
        };
        let mut level = DirRules {
            length,
            rules: Vec::new(),
            text: 0,
        };
        for name in NAMES.into_iter().filter(|name| may_have(name)) {
            let Ok(path) = path.child(name) else { continue };
            match read(cx, dir, &path, name) {
                Ok(Some(text)) => self.add(&mut level, &text, &path),
                Ok(None) => {}
                Err(_) => self.unread.add(&path),
            }
        }
        self.levels.push(level);
    }

    /// Removes the rules of the directory that was entered last.
    pub(crate) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.text -= level.text;
            self.rules -= level.rules.len();
        }
    }

    /// Returns true if an entry of the directory that was entered last is excluded. The nearest rule decides; within a directory, the
    /// last one.
    ///
    /// # Errors
    /// Returns [`Cancelled`](tools::ErrorCode::Cancelled) if the call was cancelled.
    pub(crate) fn excludes(
        &self,
        cx: &ToolContext,
        path: &RelativePath,
        is_dir: bool,
    ) -> Result<bool, ToolError> {
        let name = path.names().last().unwrap_or_default();
        if name == ".git" {
            return Ok(true);
        }
        let mut unchecked = 0;
        for level in self.levels.iter().rev() {
            let below = path.as_str().get(level.length..).unwrap_or_default();
            for rule in level.rules.iter().rev() {
                unchecked += rule.len() * below.len();
                if unchecked >= UNINTERRUPTED {
                    cx.check_cancelled()?;
                    unchecked = 0;
                }
                if rule.matches(below, name, is_dir) {
                    return Ok(!rule.is_negated);
                }
            }
        }
        Ok(false)
    }

    /// Returns the paths that the notes name.
    pub(crate) fn noted_paths(&self) -> impl Iterator<Item = &str> {
        let counts = [&self.cut, &self.faulty, &self.unread];
        counts
            .into_iter()
            .filter_map(|count| count.first.as_ref())
            .map(RelativePath::as_str)
    }

    /// Returns notes about ignore files that were not fully used.
    pub(crate) fn notes(&self) -> Vec<String> {
        let counted = [
            (&self.cut, "ignore files used only in part"),
            (&self.faulty, "invalid patterns in ignore files"),
            (&self.unread, "ignore files that could not be read"),
        ];
        let notes = counted.into_iter().filter_map(|(count, what)| {
            let first = count.first.as_ref()?;
            Some(format!("{what}: {} (first in `{first}`)", count.times))
        });
        notes.collect()
    }

    /// Adds the rules of a file until the limits are reached.
    fn add(&mut self, level: &mut DirRules, text: &[u8], path: &RelativePath) {
        // Some editors write a byte order mark.
        let whole = text.strip_prefix(MARK.as_bytes()).unwrap_or(text);
        let (lines, mut is_cut) = match whole.get(MAX_FILE..) {
            // A truncated line would be a different pattern.
            Some(rest) if !rest.is_empty() => (whole_lines(&whole[..MAX_FILE]), true),
            _ => (whole, false),
        };
        for line in lines.split(|byte| *byte == b'\n') {
            match IgnoreRule::parse(line) {
                ParsedLine::Blank => {}
                ParsedLine::Invalid => self.faulty.add(path),
                ParsedLine::Rule(rule) => {
                    if self.rules == MAX_RULES || self.text + rule.len() > MAX_TEXT {
                        is_cut = true;
                        break;
                    }
                    self.rules += 1;
                    self.text += rule.len();
                    level.text += rule.len();
                    level.rules.push(rule);
                }
            }
        }
        if is_cut {
            self.cut.add(path);
        }
    }
}

impl Count {
    fn add(&mut self, path: &RelativePath) {
        self.times += 1;
        self.first.get_or_insert_with(|| path.clone());
    }
}

/// Returns the complete lines of a text.
fn whole_lines(text: &[u8]) -> &[u8] {
    text.iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(&[], |end| &text[..end])
}

/// Reads an ignore file, and slightly more than [`MAX_FILE`] of a long one. Returns `None` if it is missing or not granted.
fn read(
    cx: &ToolContext,
    dir: &Dir,
    path: &RelativePath,
    name: &str,
) -> Result<Option<Vec<u8>>, FsError> {
    match dir.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // The walk already counts entries that are not granted.
        Ok(_) if cx.require(Access::Read, "fs", path.as_str()).is_err() => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(FsError::io(path)(error)),
    }
    let mut bytes = Vec::new();
    let file = open_file(dir, name, path)?;
    // Three bytes of a byte order mark, and one that shows that the file is longer.
    file.take(MAX_FILE as u64 + 4)
        .read_to_end(&mut bytes)
        .map_err(FsError::io(path))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use tools::{ErrorCode, Grant};

    use super::*;
    use crate::fixture::Fixture;
    use tools::Host;

    fn path(text: &str) -> RelativePath {
        text.to_owned().try_into().unwrap()
    }

    /// Returns the rules for the deepest of `depth` nested directories named `d`.
    fn entered(fixture: &Fixture, depth: usize) -> IgnoreRules {
        let workspace = crate::Workspace::open(fixture.root()).unwrap();
        IgnoreRules::from_ancestors(
            Files::new(&Host::new().with_grant(Grant::all()), &workspace),
            &path(&vec!["d"; depth + 1].join("/")),
        )
    }

    #[test]
    fn kept_rules_are_bounded_and_leaving_a_directory_makes_room() {
        let fixture = Fixture::new();
        let (many, long) = (
            "x\n".repeat(20_000),
            format!("{}\n", "x".repeat(1_000)).repeat(60),
        );
        for depth in 0..12 {
            fixture.write(
                &format!("{}.gitignore", "d/".repeat(depth)),
                if depth % 2 == 0 { &long } else { &many },
            );
        }
        let mut ignored = entered(&fixture, 11);
        assert!(
            ignored.text <= MAX_TEXT && ignored.rules == MAX_RULES,
            "{} bytes",
            ignored.text
        );
        // The first file fits. The others are used in part or not at all.
        assert_eq!(
            ignored.notes(),
            ["ignore files used only in part: 11 (first in `d/.gitignore`)"]
        );
        for _ in 0..12 {
            ignored.leave();
        }
        assert_eq!(
            (ignored.text, ignored.rules, ignored.levels.len()),
            (0, 0, 0)
        );
    }

    #[test]
    fn a_long_file_counts_up_to_its_last_whole_line() {
        let fixture = Fixture::new();
        let comment = format!("#{}\n", "x".repeat(MAX_FILE - 5));
        // The first file ends at the limit, the second is one byte longer.
        for (end, is_covered, is_cut) in [("ab\n", true, false), ("abc\n", false, true)] {
            fixture.write(".gitignore", &format!("{comment}{end}"));
            let ignored = entered(&fixture, 0);
            let covers = |name| ignored.excludes(&Host::new(), &path(name), false).unwrap();
            assert_eq!(
                (covers("ab"), ignored.notes().is_empty()),
                (is_covered, !is_cut),
                "{end:?}"
            );
        }
    }

    #[test]
    fn unusable_ignore_files_are_noted() {
        let fixture =
            Fixture::with_files(&[(".gitignore", "[a\nb\nc\\\n"), ("d/.gitignore/x", "")]);
        let notes = entered(&fixture, 1).notes();
        assert_eq!(
            notes,
            [
                "invalid patterns in ignore files: 2 (first in `.gitignore`)",
                "ignore files that could not be read: 1 (first in `d/.gitignore`)",
            ]
        );
    }

    #[test]
    fn a_call_that_was_cancelled_stops_matching() {
        let fixture = Fixture::new();
        fixture.write(".gitignore", &format!("{}y\n", "x*".repeat(500)).repeat(60));
        let cx = Host::new();
        let ignored = entered(&fixture, 0);
        cx.cancellation().cancel();
        let covered = ignored.excludes(&cx, &path(&"x".repeat(200)), false);
        assert_eq!(covered.unwrap_err().code(), ErrorCode::Cancelled);
    }
}
