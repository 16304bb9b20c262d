//! A pure tool: the same arguments always give the same result, so each call is permitted.

use schemars::JsonSchema;
use serde::Deserialize;
use tools::tool;

/// The unit of a count.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    #[default]
    Words,
    Characters,
}

/// Some lines of a text, counted from 1.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// The first line.
    #[schemars(range(min = 1))]
    pub first: usize,
    /// The last line.
    pub last: usize,
}

/// Counts the words or characters of a text.
#[tool(
    name = "text.count",
    pure,
    example({"text": "to be or not"} => 4),
    example({"text": "to be\nor not", "unit": "characters", "lines": {"first": 2, "last": 2}} => 6),
)]
pub fn count(
    /// The text.
    text: String,
    /// The unit to count in.
    #[serde(default)]
    unit: Unit,
    /// The lines to count in. Without it, all.
    lines: Option<Lines>,
) -> Result<usize, &'static str> {
    let lines = lines.unwrap_or(Lines { first: 1, last: usize::MAX });
    if lines.last < lines.first {
        // The model reads this sentence, so it says what to do.
        return Err("`last` is before `first`; exchange them");
    }
    let chosen = text.lines().take(lines.last).skip(lines.first.saturating_sub(1));
    Ok(chosen
        .map(|line| match unit {
            Unit::Words => line.split_whitespace().count(),
            Unit::Characters => line.chars().count(),
        })
        .sum())
}
