//! The contents of a project that wait for a person's eyes: settings, and instructions for agents.
//!
//! A program that a session runs can write such files. Each content is therefore approved once, by its digest. `toolcrib trust` lists
//! all of them.

use std::collections::BTreeSet;
use std::sync::Mutex;

use anstyle::Style;
use terminal::mark_rows;
use tools::{Digest, IgnorePoison as _, counted, visible_line};
use tools_text::unified_diff;

use host::trust::Unapproved;

use crate::notice::{self, STRONG, paint};
use crate::program;
use tools::visible::visible;

/// The maximum number of lines of a difference in a warning.
const MAX_WARNED: usize = 20;

/// The maximum length of such a line, in characters.
const MAX_WIDTH: usize = 200;

/// The contents that this process has told about.
static TOLD: Mutex<BTreeSet<Digest>> = Mutex::new(BTreeSet::new());

/// Returns the page on the content: its effects, the difference from the approved one or else the text, and the digest.
pub(crate) fn page(unapproved: &Unapproved, width: usize) -> String {
    let path = unapproved.content.path.to_string_lossy();
    let mut page = format!("{}\n", paint(STRONG, visible(&path)));
    page += &quote(&unapproved.content.effects, width);
    if unapproved.is_recent {
        page += "  it changed after a session had begun here, so a session may have written it\n";
    }
    page += match &unapproved.before {
        Some(_) => "  the difference from the content that you approved:\n",
        None => "  the content:\n",
    };
    page += &quote(&lines(unapproved), width);
    page + &format!("  digest: {}\n", unapproved.content.digest)
}

fn quote(lines: &[String], width: usize) -> String {
    let rows = lines
        .iter()
        .map(|line| mark_rows(&visible(line), Style::new(), width));
    rows.collect()
}

/// Says once that sessions count as ones that read text of strangers, because of this content.
pub(crate) fn tell_exposure(unapproved: &Unapproved) {
    if !is_told(unapproved) {
        notice::note(&format!(
            "{}: the session counts as one that read text of strangers; {} trust shows it",
            state(unapproved),
            program::name()
        ));
    }
}

/// Says once that a settings file may only narrow. Shows the difference if a session may have written it, and does not offer to
/// approve it then.
pub(crate) fn tell_narrowing(unapproved: &Unapproved) {
    if is_told(unapproved) {
        return;
    }
    let path = unapproved.content.path.display();
    let program = program::name();
    if !unapproved.is_recent {
        notice::hint(&format!(
            "{path} may only narrow, and sessions count as ones that read text of strangers, until you approve it; \
             {program} trust shows what it grants, and asks"
        ));
        return;
    }
    let lines = lines(unapproved);
    let shown: Vec<_> = lines
        .iter()
        .take(MAX_WARNED)
        .map(|line| format!("\n{}", visible_line(line, MAX_WIDTH)))
        .collect();
    let more = match lines.len().saturating_sub(MAX_WARNED) {
        0 => String::new(),
        more => format!("\n… {} more", counted(more as u64, "line")),
    };
    notice::warning(&format!(
        "{path} changed after a session had begun here, so a session may have written it. It may only narrow, and sessions count \
         as ones that read text of strangers. {program} trust shows all of it. {}:{}{more}",
        if unapproved.before.is_some() {
            "The difference"
        } else {
            "The content"
        },
        shown.concat()
    ));
}

/// Returns the state in words.
fn state(unapproved: &Unapproved) -> String {
    let name = unapproved.content.name();
    let lines = lines(unapproved);
    match &unapproved.before {
        Some(_) => {
            let changed = lines.iter().filter(|line| line.starts_with(['+', '-']));
            let count = counted(changed.count() as u64, "line");
            format!("{name} changed since you last saw it ({count})")
        }
        None => format!(
            "{name} is new to you ({})",
            counted(lines.len() as u64, "line")
        ),
    }
}

/// Returns the lines of the difference from the approved content, or else those of the text.
fn lines(unapproved: &Unapproved) -> Vec<String> {
    match &unapproved.before {
        Some(before) => diff(before, &unapproved.content.text),
        None => unapproved.content.text.lines().map(str::to_owned).collect(),
    }
}

/// Returns the lines of a unified diff without its names. The caller escapes them.
fn diff(before: &str, after: &str) -> Vec<String> {
    let diff = unified_diff(("", before), ("", after));
    let lines = diff.lines().skip(2);
    // Hints at a missing line end.
    let lines = lines.filter(|line| !line.starts_with('\\'));
    lines.map(str::to_owned).collect()
}

/// Returns true if this process has told about the content. From now on, it has.
fn is_told(unapproved: &Unapproved) -> bool {
    !TOLD
        .lock()
        .ignore_poison()
        .insert(unapproved.content.digest)
}
