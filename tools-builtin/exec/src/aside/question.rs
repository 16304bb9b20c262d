//! The question whether files that lie aside are put back.

use std::fs;
use std::path::Path;

use tools::question::AnswerKind;
use tools::{Question, visible_line};

use super::SetAside;

/// The most characters of the content of a file that a question shows.
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
            match groups
                .iter_mut()
                .find(|group| folder.is_some() && group.folder == folder)
            {
                Some(group) => group.files.push(file),
                None => groups.push(Self {
                    folder,
                    files: vec![file],
                }),
            }
        }
        groups
    }

    fn line(&self) -> String {
        match (&self.files[..], self.folder) {
            ([file], _) => {
                let was = if file.was_there { "changed" } else { "new" };
                visible_line(&format!("{} ({was}): {}", file.path, file.note), LINE)
            }
            (files, folder) => {
                let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
                let folder = folder.unwrap_or_default();
                let count = files.len();
                let text = format!(
                    "{folder}/ is new and has {count} files that run or configure programs: "
                );
                visible_line(&(text + &names.join(", ")), LINE)
            }
        }
    }

    /// Returns the whole content of the files, if each is a small text or a link.
    fn content(&self) -> Option<String> {
        let of_group = self.files.len() > 1;
        let contents = self.files.iter().map(|file| {
            let name = if of_group {
                format!("\n  {}:", visible_line(&file.path, LINE))
            } else {
                String::new()
            };
            Some(name + &content(file.place.as_ref()?)?)
        });
        contents.collect()
    }
}

/// Returns the whole content of a small file of text, with a mark before each line, or of all files of a small folder.
fn content(place: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(place).ok()?;
    if metadata.is_symlink() {
        let target = fs::read_link(place).ok()?.to_string_lossy().into_owned();
        return (target.chars().count() <= LINE)
            .then(|| format!("\n  a link to {}", visible_line(&target, LINE)));
    }
    if metadata.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(place).ok()?.collect::<Result<_, _>>().ok()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut all = String::from("\n  a folder");
        for entry in entries {
            all += &format!(
                "\n  {}:",
                visible_line(&entry.file_name().to_string_lossy(), LINE)
            );
            all += &content(&entry.path())?;
            if all.chars().count() > ROOM {
                return None;
            }
        }
        return Some(all);
    }
    if !metadata.is_file() || metadata.len() > CONTENT as u64 {
        return None;
    }
    let text = String::from_utf8(fs::read(place).ok()?).ok()?;
    let line = |line: &str| format!("\n  | {}", visible_line(line, CONTENT));
    let content: String = text.lines().map(line).collect();
    (content.chars().count() <= CONTENT).then_some(content)
}

/// Returns the question about the groups whose content it shows whole, with their files. The others stay aside, because a yes covers what
/// was shown. Returns `None` if there is none to show.
pub(super) fn question(groups: &[Group<'_>]) -> Option<(Question, Vec<SetAside>)> {
    let first = groups.first()?.files.first()?;
    let place = first.place.as_ref()?.parent()?;
    let mut lines = String::new();
    let mut shown = Vec::new();
    let mut others = 0;
    let mut left = ROOM;
    for group in groups {
        let block = group
            .content()
            .map(|content| format!("\n- {}{content}", group.line()));
        match block.and_then(|block| Some((left.checked_sub(block.chars().count())?, block))) {
            Some((rest, block)) => {
                left = rest;
                lines += &block;
                shown.extend(group.files.iter().map(|file| (*file).clone()));
            }
            None => others += group.files.len(),
        }
    }
    let others = match others {
        0 => String::new(),
        others => format!("\n{others} more stay aside, because their content does not fit here."),
    };
    let place = visible_line(&place.to_string_lossy(), 150);
    let text = format!(
        "The program left files that run or configure programs. They were moved to {place}. May they be put back? Without a yes, they \
         stay there.{lines}{others}"
    );
    let question = Question::new(text, AnswerKind::Confirmation)
        .ok()
        .filter(|_| !shown.is_empty());
    question.map(|question| (question, shown))
}
