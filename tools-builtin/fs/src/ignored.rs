//! [`Ignored`]: what ignore files leave out.

use std::io::{self, Read};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, ToolContext, ToolError};

use crate::error::FsError;
use crate::path::RelativePath;
use crate::place::open_file;
use crate::rule::{Line, Rule};

/// The files that are honoured, the stronger one last.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// How much of one is read, in bytes.
const MAX_FILE: usize = 64 * 1024;

/// How much of the text of all of them is kept at once, in bytes, and how many rules: those of a directory and of all above.
const MAX_TEXT: usize = 256 * 1024;
const MAX_RULES: usize = 8 * 1024;

/// How much is matched before it is looked whether anybody still waits: bytes of a rule times bytes of a path.
const UNINTERRUPTED: usize = 1 << 20;

/// What the ignore files of a directory and of those above it leave out. They are read through the handles of their
/// directories, as far as the grant goes, and links in their places are not followed. Repositories' own `.git` is left out
/// with them. What is kept of them is bounded, whatever is in them; the rules nearer to the root come first.
#[derive(Debug, Default)]
pub(crate) struct Ignored {
    /// One for each directory on the way.
    levels: Vec<Level>,
    text: usize,
    rules: usize,
    cut: Count,
    faulty: Count,
    unread: Count,
}

/// The rules of one directory.
#[derive(Debug)]
struct Level {
    /// The length of what the path of the directory adds to those below it.
    length: usize,
    rules: Vec<Rule>,
    text: usize,
}

/// How often something was met, and where first.
#[derive(Debug, Default)]
struct Count {
    times: u64,
    first: Option<RelativePath>,
}

impl Ignored {
    /// The rules that hold in a directory because of those above it.
    pub(crate) fn above(cx: &ToolContext, root: &Dir, path: &RelativePath) -> Self {
        let mut ignored = Self::default();
        let mut current = root.try_clone().ok();
        for (index, name) in path.names().enumerate() {
            let Some(dir) = current else { break };
            ignored.enter(cx, &dir, &path.prefix(index));
            current = dir.open_dir_nofollow(name).ok();
        }
        ignored
    }

    /// Adds the rules of a directory.
    pub(crate) fn enter(&mut self, cx: &ToolContext, dir: &Dir, path: &RelativePath) {
        let length = if path.is_root() { 0 } else { path.as_str().len() + 1 };
        let mut level = Level { length, rules: Vec::new(), text: 0 };
        for name in NAMES {
            let Ok(path) = path.child(name) else { continue };
            match text(cx, dir, &path, name) {
                Ok(Some(text)) => self.add(&mut level, &text, &path),
                Ok(None) => {}
                Err(_) => self.unread.add(&path),
            }
        }
        self.levels.push(level);
    }

    /// Takes the rules of the directory that was entered last away again.
    pub(crate) fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.text -= level.text;
            self.rules -= level.rules.len();
        }
    }

    /// Whether something in the directory that was entered last is left out. The nearest rule decides, and of those of one
    /// directory the last.
    ///
    /// # Errors
    /// [`Cancelled`](tools::ErrorCode::Cancelled) when nobody waits any more.
    pub(crate) fn covers(&self, cx: &ToolContext, path: &RelativePath, is_dir: bool) -> Result<bool, ToolError> {
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
                if rule.is_about(below, name, is_dir) {
                    return Ok(!rule.keeps());
                }
            }
        }
        Ok(false)
    }

    /// What there is to say about the files themselves.
    pub(crate) fn facts(&self) -> Vec<String> {
        let counted = [
            (&self.cut, "ignore files of which only the beginning was used"),
            (&self.faulty, "lines of ignore files that are no patterns"),
            (&self.unread, "ignore files that could not be read"),
        ];
        let told = |(count, what): (&Count, &str)| {
            let Count { times, first } = count;
            first.as_ref().map(|first| format!("{what}: {times} (the first in `{first}`)"))
        };
        counted.into_iter().filter_map(told).collect()
    }

    /// Adds the rules of a file, up to where there is room for no more.
    fn add(&mut self, level: &mut Level, text: &[u8], path: &RelativePath) {
        // Some editors put a mark at the beginning.
        let whole = text.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(text);
        let (lines, mut is_cut) = match whole.get(MAX_FILE..) {
            // A line that was cut in two would say something else.
            Some(rest) if !rest.is_empty() => (beginning(&whole[..MAX_FILE]), true),
            _ => (whole, false),
        };
        for line in lines.split(|byte| *byte == b'\n') {
            match Rule::parse(line) {
                Line::Nothing => {}
                Line::Fault => self.faulty.add(path),
                Line::Rule(rule) => {
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

/// The whole lines of a text.
fn beginning(text: &[u8]) -> &[u8] {
    text.iter().rposition(|byte| *byte == b'\n').map_or(&[], |end| &text[..end])
}

/// What is in the file, and a little more than is used of a long one; `None` where there is none for us.
fn text(cx: &ToolContext, dir: &Dir, path: &RelativePath, name: &str) -> Result<Option<Vec<u8>>, FsError> {
    match dir.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // The walk says itself that there is something that was not granted.
        Ok(_) if cx.require(Access::Read, "fs", path.as_str()).is_err() => return Ok(None),
        Ok(_) => {}
        Err(source) => return Err(FsError::Io { path: path.clone(), source }),
    }
    let mut bytes = Vec::new();
    let file = open_file(dir, name, path)?;
    file.take(MAX_FILE as u64 + 4).read_to_end(&mut bytes).map_err(FsError::io(path))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;
    use tools::{ErrorCode, Grant};

    use super::*;
    use crate::fixture::Fixture;

    fn path(text: &str) -> RelativePath {
        text.to_owned().try_into().unwrap()
    }

    /// The rules that hold in the deepest of nested directories called `d`.
    fn entered(fixture: &Fixture, depth: usize) -> Ignored {
        let root = Dir::open_ambient_dir(fixture.root(), ambient_authority()).unwrap();
        Ignored::above(&ToolContext::new().with_grant(Grant::all()), &root, &path(&vec!["d"; depth + 1].join("/")))
    }

    #[test]
    fn what_is_kept_at_once_is_bounded_and_what_is_left_makes_room() {
        let fixture = Fixture::new();
        let (many, long) = ("x\n".repeat(20_000), format!("{}\n", "x".repeat(1_000)).repeat(60));
        for depth in 0..12 {
            fixture.write(&format!("{}.gitignore", "d/".repeat(depth)), if depth % 2 == 0 { &long } else { &many });
        }
        let mut ignored = entered(&fixture, 11);
        assert!(ignored.text <= MAX_TEXT && ignored.rules == MAX_RULES, "{} bytes", ignored.text);
        // The first one fits; of the second, and of each after it, some or all is left out.
        assert_eq!(
            ignored.facts(),
            ["ignore files of which only the beginning was used: 11 (the first in `d/.gitignore`)"]
        );
        for _ in 0..12 {
            ignored.leave();
        }
        assert_eq!((ignored.text, ignored.rules, ignored.levels.len()), (0, 0, 0));
    }

    #[test]
    fn a_long_file_counts_up_to_its_last_whole_line() {
        let fixture = Fixture::new();
        let comment = format!("#{}\n", "x".repeat(MAX_FILE - 5));
        // The first ends where reading ends, the second would lose its last letter.
        for (end, is_covered, is_cut) in [("ab\n", true, false), ("abc\n", false, true)] {
            fixture.write(".gitignore", &format!("{comment}{end}"));
            let ignored = entered(&fixture, 0);
            let covers = |name| ignored.covers(&ToolContext::new(), &path(name), false).unwrap();
            assert_eq!((covers("ab"), ignored.facts().is_empty()), (is_covered, !is_cut), "{end:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let fixture = Fixture::of(&[(".gitignore", "[a\nb\nc\\\n"), ("d/.gitignore/x", "")]);
        let facts = entered(&fixture, 1).facts();
        assert_eq!(
            facts,
            [
                "lines of ignore files that are no patterns: 2 (the first in `.gitignore`)",
                "ignore files that could not be read: 1 (the first in `d/.gitignore`)",
            ]
        );
    }

    #[test]
    fn a_call_that_was_taken_back_stops_matching() {
        let fixture = Fixture::new();
        fixture.write(".gitignore", &format!("{}y\n", "x*".repeat(500)).repeat(60));
        let cx = ToolContext::new();
        let ignored = entered(&fixture, 0);
        cx.cancellation().cancel();
        let covered = ignored.covers(&cx, &path(&"x".repeat(200)), false);
        assert_eq!(covered.unwrap_err().code(), ErrorCode::Cancelled);
    }
}
