//! `toolcrib lock`

mod compare;
mod difference;
mod schema;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anstyle::Style;
use clap::Args;
use tools::Tool;

use self::compare::compare;
use self::difference::Difference;
use crate::error::Error;
use crate::exit::Exit;
use crate::fit;
use crate::linked;
use crate::lock_file::{self, LockError};
use crate::notice::{self, ALERT, BAD, GOOD, STRONG, styled};
use crate::output;
use crate::table::Table;
use crate::visible::visible;
use tools::counted;

/// Write the definitions of all linked tools to a lock file, or check them against it
///
/// Prints what changed since the file was written. With --check, exits with 1 if anything changed, so that each change is reviewed:
/// run `lock` and commit the file to accept it.
///
/// A change is breaking by these rules, each applied to its place alone:
///
/// - a tool or a former name is removed or means another tool, or a tool is renamed;
///
/// - an argument is required now, or is removed where additionalProperties is false, or additionalProperties is false now;
///
/// - a type, a value of an enum or an alternative is removed, or types or values are listed where all were accepted;
///
/// - a bound such as maxLength is tighter or new;
///
/// - an effect is added, or the effects are unbounded now.
///
/// Any other change is for a person to look at.
#[derive(Args, Debug)]
pub(super) struct LockArgs {
    /// Write nothing; exit with 1 if a definition differs from the file
    #[arg(long)]
    check: bool,

    /// The lock file
    #[arg(long, value_name = "FILE", default_value = lock_file::USUAL)]
    file: PathBuf,

    /// Print the differences as JSON, one document per line
    #[arg(long)]
    json: bool,
}

impl LockArgs {
    pub(super) fn run(self) -> Result<Exit, Error> {
        if let Some(count) = linked::unusable() {
            return Err(Error::Unusable(count));
        }
        let linked: Vec<Tool> = tools::list()
            .iter()
            .map(|entry| entry.tool().clone())
            .collect();
        if self.check {
            let differences = compare(&lock_file::read(&self.file)?, &linked);
            self.print(&differences, linked.len())?;
            return Ok(if differences.is_empty() {
                Exit::Success
            } else {
                Exit::Failed
            });
        }
        let locked = match lock_file::read(&self.file) {
            Err(LockError::Missing { .. }) => None,
            Err(error) => {
                notice::warning(&format!("{error}; the file is replaced"));
                None
            }
            Ok(locked) => Some(locked),
        };
        let differences = locked
            .map(|locked| compare(&locked, &linked))
            .unwrap_or_default();
        lock_file::write(&self.file, &linked)?;
        self.print(&differences, linked.len())?;
        Ok(Exit::Success)
    }

    fn print(&self, differences: &[Difference], count: usize) -> Result<(), Error> {
        if self.json {
            return differences.iter().try_for_each(output::json);
        }
        let width = output::width();
        let text = format!(
            "{}{}",
            page(differences, width),
            fit::hanging(&self.totals(differences, count), width, "", "  ")
        );
        output::page(&text)
    }

    fn totals(&self, differences: &[Difference], count: usize) -> String {
        let file = self.file.display().to_string();
        let start = format!("{}: {}", visible(&file), counted(count as u64, "tool"));
        if differences.is_empty() {
            return format!(
                "{start}, {}",
                styled(GOOD, if self.check { "unchanged" } else { "written" })
            );
        }
        let breaking = differences
            .iter()
            .filter(|it| it.breaking.is_some())
            .count();
        let advice = if self.check {
            let command = lock_file::command(&self.file);
            format!("; run {} to accept the changes", visible(&command))
        } else {
            String::new()
        };
        let others = differences.len() - breaking;
        format!("{start}, changes: {breaking} breaking, {others} to look at{advice}")
    }
}

/// Returns the differences by tool.
fn page(differences: &[Difference], width: usize) -> String {
    let mut text = String::new();
    for of_tool in differences.chunk_by(|a, b| a.tool == b.tool) {
        text += &format!("{}\n", styled(STRONG, visible(&of_tool[0].tool)));
        for difference in of_tool {
            text += &lines(difference).wrapped(width);
        }
    }
    text
}

fn lines(difference: &Difference) -> Table<2> {
    let (style, verdict, reason) = match difference.breaking {
        Some(rule) => (BAD, "breaking", rule.to_string()),
        None => (ALERT, "changed", "look at it".to_owned()),
    };
    let reason = match (difference.place.as_str(), &difference.old) {
        ("", None) => "the tool is new".to_owned(),
        ("", _) => reason,
        (place, _) => format!("{}: {reason}", visible(place)),
    };
    let mut table = Table::new([style, Style::new()], 2);
    table.push([format!("{verdict:8}"), reason]);
    for (style, line) in [BAD, GOOD].into_iter().zip(difference.lines()) {
        if let Some(line) = line {
            table.push_below(style, visible(&line).into_owned());
        }
    }
    table
}
