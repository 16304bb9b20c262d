//! Text in the place of other text.

use tools::ToolContext;

use crate::error::FsError;
use crate::nearest::nearest;
use crate::path::RelativePath;

/// How large a text may be, in bytes, before and after.
pub(crate) const MAX_FILE: u64 = 8 * 1024 * 1024;

/// How many occurrences are counted of a text that should occur once.
const MAX_COUNTED: usize = 1000;

/// How many lines are named in which a text occurs that should occur once.
const MAX_LINES_NAMED: usize = 8;

/// The text with `new` in the place of `old`: of its one occurrence, or of all.
pub(crate) fn replaced(
    cx: &ToolContext,
    path: &RelativePath,
    text: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<String, FsError> {
    let Some(first) = text.find(old) else {
        return Err(FsError::NoMatch { path: path.clone(), near: nearest(cx, text, old)? });
    };
    if all {
        // Measured before it is made: a long text in many places can be more than fits into memory.
        let count = text.matches(old).count();
        let grown = (text.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
        return if grown as u64 > MAX_FILE {
            Err(FsError::TooLarge { path: path.clone(), limit: MAX_FILE })
        } else {
            Ok(text.replace(old, new))
        };
    }
    let starts = starts(text, old, first);
    if starts.len() > 1 {
        let count = match starts.len() {
            count if count > MAX_COUNTED => format!("more than {MAX_COUNTED}"),
            count => count.to_string(),
        };
        return Err(FsError::Ambiguous { path: path.clone(), count, lines: lines(text, &starts) });
    }
    Ok([&text[..first], new, &text[first + old.len()..]].concat())
}

/// Where a text begins, also where occurrences overlap: `aa` is twice in `aaa`, and which one is meant is open. One more than
/// are counted tells that there are more.
fn starts(text: &str, old: &str, first: usize) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let next = |start: &usize| text[start + step..].find(old).map(|at| start + step + at);
    std::iter::successors(Some(first), next).take(MAX_COUNTED + 1).collect()
}

fn lines(text: &str, starts: &[usize]) -> String {
    let number = |start: &usize| (text[..*start].matches('\n').count() + 1).to_string();
    let mut lines: Vec<_> = starts.iter().take(MAX_LINES_NAMED).map(number).collect();
    lines.dedup();
    if starts.len() > MAX_LINES_NAMED {
        lines.push("…".to_owned());
    }
    lines.join(", ")
}
