//! The styles of text that the program prints on terminals.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// The style of text without emphasis.
pub const PLAIN: Style = Style::new();
/// The style of names and headings.
pub const STRONG: Style = Style::new().bold();
/// The style of details.
pub const FAINT: Style = Style::new().dimmed();
/// The style of success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of failure.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// The style of warnings.
pub const ALERT: Style = AnsiColor::Yellow.on_default().bold();

/// Returns the text in a style.
pub fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
