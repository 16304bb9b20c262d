//! The question whether files that lie aside are put back.

use std::fs;

use tools::question::AnswerKind;
use tools::{Question, visible_line};

use super::SetAside;

/// The most characters of the content of a file that a question shows. It shows the whole content or none.
const CONTENT: usize = 600;

/// The most characters of a line of a question.
const LINE: usize = 300;

/// The characters that are left for what is around the lines.
const ROOM: usize = Question::MAX_CHARS - 350;

/// Files of which a question has one line: one file, or all of a folder that is new itself.
pub(super) struct Group<'a> {
    folder: Option<&'a str>,
    files: Vec<&'a SetAside>,
}

impl<'a> Group<'a> {
    /// Returns the groups, in the order of their first files.
    pub(super) fn all(files: &[(&'a SetAside, &'a Option<String>)]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (file, folder) in files {
            let folder = folder.as_deref();
            match groups.iter_mut().find(|group| folder.is_some() && group.folder == folder) {
                Some(group) => group.files.push(file),
                None => groups.push(Self { folder, files: vec![file] }),
            }
        }
        groups
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &'a SetAside> {
        self.files.iter().copied()
    }

    fn line(&self) -> String {
        match (&self.files[..], self.folder) {
            ([file], _) => {
                let was = if file.was_there { "changed" } else { "new" };
                visible_line(&format!("{} ({was}): {}", file.path, file.note), LINE)
            }
            (files, folder) => {
                let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
                let (folder, count) = (folder.unwrap_or_default(), files.len());
                let text = format!("{folder}/ is new and has {count} files that run or configure programs: ");
                visible_line(&(text + &names.join(", ")), LINE)
            }
        }
    }

    /// Returns the whole content of a small file of text, with a mark before each line.
    fn content(&self) -> Option<String> {
        let [file] = self.files[..] else { return None };
        let place = file.place.as_ref()?;
        let metadata = fs::symlink_metadata(place).ok()?;
        if metadata.is_symlink() {
            let target = fs::read_link(place).ok()?;
            return Some(format!("\n  a link to {}", visible_line(&target.to_string_lossy(), LINE)));
        }
        if !metadata.is_file() || metadata.len() > CONTENT as u64 {
            return None;
        }
        let text = String::from_utf8(fs::read(place).ok()?).ok()?;
        let line = |line: &str| format!("\n  | {}", visible_line(line, CONTENT));
        let content: String = text.lines().map(line).collect();
        (content.chars().count() <= CONTENT).then_some(content)
    }
}

/// Returns the question about the groups, and the number of those that it shows. Returns `None` without groups.
pub(super) fn question(groups: &[Group<'_>]) -> Option<(Question, usize)> {
    let first = groups.first()?.files.first()?;
    let place = first.place.as_ref()?.parent()?;
    let (mut lines, mut shown) = (String::new(), 0);
    let mut left = ROOM;
    for group in groups {
        let line = format!("\n- {}", group.line());
        let Some(rest) = left.checked_sub(line.chars().count()) else { break };
        (left, shown) = (rest, shown + 1);
        lines += &line;
        match group.content() {
            Some(content) if content.chars().count() <= left => {
                left -= content.chars().count();
                lines += &content;
            }
            _ => {
                let note = "\n  (its content is not shown here)";
                lines += note;
                left = left.saturating_sub(note.chars().count());
            }
        }
    }
    let others = match groups.len() - shown {
        0 => String::new(),
        others => format!("\n{others} more do not fit here, and stay aside."),
    };
    let place = visible_line(&place.to_string_lossy(), 150);
    let text = format!(
        "The program left files that run or configure programs. They were moved to {place}. May they be put back? Without a yes, they \
         stay there.{lines}{others}"
    );
    Question::new(text, AnswerKind::Confirmation).ok().map(|question| (question, shown))
}
