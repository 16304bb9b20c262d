//! [`Unapproved`]: a content that no person has approved, and how it is shown.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use anstyle::Style;
use tools::{Digest, visible_line};

use super::{Content, difference};
use crate::notice::{self, STRONG, styled};
use crate::program;
use crate::quote::quoted;
use crate::visible::visible;
use crate::wording::counted;

/// The maximum number of lines of a difference in a warning.
const MAX_WARNED: usize = 20;

/// The maximum length of such a line, in characters.
const MAX_WIDTH: usize = 200;

/// The contents that this process has told about.
static TOLD: Mutex<BTreeSet<Digest>> = Mutex::new(BTreeSet::new());

/// A content that no person has approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unapproved {
    content: Content,
    before: Option<String>,
    is_recent: bool,
}

impl Unapproved {
    pub(super) fn new(content: Content, before: Option<String>, is_recent: bool) -> Self {
        Self { content, before, is_recent }
    }

    /// Returns the content.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Returns the text of the file that was approved last.
    #[cfg(test)]
    pub(crate) fn before(&self) -> Option<&str> {
        self.before.as_deref()
    }

    /// Returns true if a session can have written the file: it changed after one had begun in a folder around it.
    pub(crate) fn is_recent(&self) -> bool {
        self.is_recent
    }

    /// Returns the page on the content: its effects, the difference from the approved one or else the text, and the digest.
    pub(crate) fn page(&self, width: usize) -> String {
        let path = self.content.path().to_string_lossy();
        let quoted = |line: &String| quoted(&visible(line), Style::new(), width);
        let mut page = format!("{}\n", styled(STRONG, visible(&path)));
        page.extend(self.content.effects().iter().map(quoted));
        if self.is_recent {
            page += "  it changed after a session had begun here, so a session may have written it\n";
        }
        page += match self.before {
            Some(_) => "  the difference from the content that you approved:\n",
            None => "  the content:\n",
        };
        page.extend(self.lines().iter().map(quoted));
        page + &format!("  digest: {}\n", self.content.digest())
    }

    /// Says once that sessions count as ones that read text of strangers, because of this content.
    pub(crate) fn tell_exposure(&self) {
        if !self.is_told() {
            notice::note(&format!(
                "{}: the session counts as one that read text of strangers; {} trust shows it",
                self.state(),
                program::name()
            ));
        }
    }

    /// Says once that a settings file may only narrow. Shows the difference if a session may have written it, and does not offer to
    /// approve it then.
    pub(crate) fn tell_narrowing(&self) {
        if self.is_told() {
            return;
        }
        let (path, program) = (self.content.path().display(), program::name());
        if !self.is_recent {
            notice::hint(&format!(
                "{path} may only narrow, and sessions count as ones that read text of strangers, until you approve it; \
                 {program} trust shows what it grants, and asks"
            ));
            return;
        }
        let lines = self.lines();
        let shown: Vec<_> =
            lines.iter().take(MAX_WARNED).map(|line| format!("\n{}", visible_line(line, MAX_WIDTH))).collect();
        let more = match lines.len().saturating_sub(MAX_WARNED) {
            0 => String::new(),
            more => format!("\n… {} more", counted(more as u64, "line")),
        };
        notice::warning(&format!(
            "{path} changed after a session had begun here, so a session may have written it. It may only narrow, and sessions count \
             as ones that read text of strangers. {program} trust shows all of it. {}:{}{more}",
            if self.before.is_some() { "The difference" } else { "The content" },
            shown.concat()
        ));
    }

    /// Returns the state in words.
    fn state(&self) -> String {
        let name = self.content.name();
        let lines = self.lines();
        match self.before {
            Some(_) => {
                let count = counted(difference::changed(&lines) as u64, "line");
                format!("{name} changed since you last saw it ({count})")
            }
            None => format!("{name} is new to you ({})", counted(lines.len() as u64, "line")),
        }
    }

    /// Returns the lines of the difference from the approved content, or else those of the text.
    fn lines(&self) -> Vec<String> {
        match &self.before {
            Some(before) => difference::lines(before, self.content.text()),
            None => self.content.text().lines().map(str::to_owned).collect(),
        }
    }

    /// Returns true if this process has told about the content. From now on, it has.
    fn is_told(&self) -> bool {
        !TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(*self.content.digest())
    }
}
