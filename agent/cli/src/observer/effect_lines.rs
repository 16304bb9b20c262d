//! The effect of a call, below its line.

use anstyle::Style;
use terminal::{mark_rows, stderr::width};
use tools::{Json, Preview, ToolResult};

use super::event_line::line;
use crate::detail::Detail;
use crate::notice::{STRONG, paint};
use crate::terminal_asker::preview;
use tools::visible::visible;

/// The number of lines of a program's output that are shown, without blank ones.
const LAST_LINES: usize = 5;

/// Returns the whole arguments of a call as lines that follow its own.
pub(super) fn argument_lines(arguments: &Json) -> String {
    below(marked_json(arguments))
}

/// Returns a call of the conversation and its result, if it has one, whole.
pub(crate) fn whole_call(name: &str, arguments: &Json, result: Option<&ToolResult>) -> String {
    let mut page = format!(
        "{}\n{}",
        paint(STRONG, visible(name)),
        marked_json(arguments)
    );
    if let Some(result) = result {
        page += if result.is_error {
            "failed:\n"
        } else {
            "result:\n"
        };
        page += &marked(result.to_text().lines(), |line| visible(line).into_owned());
    }
    page
}

fn marked_json(arguments: &Json) -> String {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
    marked(text.lines(), |line| visible(line).into_owned())
}

/// Returns the effect of a call as lines that follow that of its result: the preview of a call about which nobody was asked, and the last
/// lines of a program. Returns the whole result if the person wants to see all.
pub(super) fn effect_lines(
    detail: Detail,
    is_of_program: bool,
    result: &ToolResult,
    effect: Option<&Preview>,
) -> String {
    let is_whole = matches!(detail, Detail::Whole | Detail::Results);
    let mut lines = String::new();
    if let Some(effect) = effect.filter(|_| !result.is_error) {
        lines += &preview::lines(effect, is_whole, width(), "").text;
    }
    let text = result.to_text();
    if is_whole {
        lines += &marked(text.lines(), |line| visible(line).into_owned());
    } else if is_of_program && !result.is_error {
        // The first line says how the program ended, and is shown already.
        let output = text.lines().skip(1).filter(|line| !line.trim().is_empty());
        let output: Vec<_> = output.collect();
        let last = output[output.len().saturating_sub(LAST_LINES)..].iter();
        lines += &marked(last.copied(), line);
    }
    below(lines)
}

fn marked<'a>(lines: impl Iterator<Item = &'a str>, escape: impl Fn(&str) -> String) -> String {
    let rows = lines.map(|line| mark_rows(&escape(line), Style::new(), width()));
    rows.collect()
}

/// Returns lines as the rest of the one before them.
fn below(lines: String) -> String {
    match lines.trim_end_matches('\n') {
        "" => String::new(),
        lines => format!("\n{lines}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(detail: Detail, is_program: bool, text: &str, effect: Option<&Preview>) -> String {
        let lines = effect_lines(detail, is_program, &ToolResult::text(text), effect);
        anstream::adapter::strip_str(&lines).to_string()
    }

    #[test]
    fn a_difference_has_at_most_twenty_lines_and_a_count() {
        let diff = Preview::diff("+a\u{1b}\n".repeat(25));
        let lines = shown(Detail::Usual, false, "written", Some(&diff));
        assert_eq!(lines.matches("  | +a\\u{1b}").count(), 20, "{lines}");
        assert!(lines.ends_with("\n… and 5 more lines"), "{lines}");
        let lines = shown(Detail::Whole, false, "written", Some(&diff));
        assert_eq!(lines.matches("  | +a").count(), 25, "{lines}");
        assert!(lines.ends_with("  | written"), "{lines}");
        let failed = ToolResult {
            is_error: true,
            ..ToolResult::text("no")
        };
        assert_eq!(effect_lines(Detail::Usual, false, &failed, Some(&diff)), "");
    }

    #[test]
    fn a_program_shows_its_last_lines() {
        let text = "[exit code 0, 0.1 s]\nstdout:\n1\n\n2\n3\n \n4\n5\u{9b}\n\n";
        let lines = shown(Detail::Usual, true, text, None);
        assert_eq!(lines, "\n  | 1\n  | 2\n  | 3\n  | 4\n  | 5\\u{9b}");
        assert_eq!(shown(Detail::Usual, false, text, None), "");
        let lines = shown(Detail::Usual, true, "[exit code 0, 0.1 s]", None);
        assert_eq!(lines, "");
    }
}
