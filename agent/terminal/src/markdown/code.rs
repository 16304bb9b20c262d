//! [`CodeBlock`]: a fenced block of code.

use anstyle::{AnsiColor, Style};

use super::wrap::painted;
use host::fit;
use host::style::FAINT;
use tools::visible::harmless;

/// The style of code.
pub(super) const CODE: Style = AnsiColor::Cyan.on_default();
const INDENT: &str = "  ";

/// A fenced block of code.
#[derive(Debug)]
pub(super) struct CodeBlock {
    mark: char,
    length: usize,
    indent: usize,
    /// The text behind the fence.
    info: String,
}

impl CodeBlock {
    /// Returns the block that the first line of a text begins, if that line is whole.
    pub(super) fn begin(text: &str) -> Option<Self> {
        let (line, _) = text.split_once('\n')?;
        let block = Self::from_fence(line)?;
        // An info string with a backtick would be code in a line.
        Some(block).filter(|block| block.mark != '`' || !block.info.contains('`'))
    }

    fn from_fence(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let mark = text
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        let info = info.trim().to_owned();
        (indent < 4 && length >= 3).then_some(Self {
            mark,
            length,
            indent,
            info,
        })
    }

    /// Returns true if the line ends the block.
    pub(super) fn is_end(&self, line: &str) -> bool {
        Self::from_fence(line).is_some_and(|end| {
            end.mark == self.mark && end.length >= self.length && end.info.is_empty()
        })
    }

    /// Returns the line that names the language, if the block does.
    pub(super) fn title(&self) -> Option<String> {
        title(&self.info)
    }

    /// Returns the rows of a line of code.
    pub(super) fn rows(&self, line: &str, room: usize) -> Vec<String> {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        rows(&line[spaces.min(self.indent)..], room)
    }
}

/// Returns the line that names a language.
pub(super) fn title(info: &str) -> Option<String> {
    (!info.is_empty()).then(|| painted(FAINT, &harmless(info)))
}

/// Returns the rows of a line of code. One of ASCII stays whole, so that it can be copied.
pub(super) fn rows(line: &str, room: usize) -> Vec<String> {
    let line = harmless(line.trim_end_matches(['\n', '\r'])).replace('\t', "    ");
    let room = room.saturating_sub(INDENT.len());
    let rows = if line.is_ascii() {
        vec![&*line]
    } else {
        fit::rows(&line, 0, room)
    };
    let rows = rows.into_iter();
    rows.map(|row| {
        format!("{INDENT}{}", painted(CODE, row))
            .trim_end()
            .to_owned()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_ends_at_one_that_is_as_long() {
        let block = CodeBlock::begin("````md x\n").unwrap();
        assert!(!block.is_end("```") && block.is_end("`````  ") && !block.is_end("````a"));
        assert!(CodeBlock::begin("``` a`b\n").is_none() && CodeBlock::begin("```").is_none());
    }
}
