//! `toolcrib lock`

mod compare;
mod difference;
mod leaves;
mod normal;
mod schema;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anstyle::Style;
use clap::Args;
use tools::Tool;

use self::compare::compare;
use self::difference::{Compatibility, Difference};
use crate::error::Error;
use crate::exit::Exit;
use crate::fit;
use crate::linked;
use crate::lock_file::{self, LockError};
use crate::notice::{self, ALERT, BAD, FAINT, GOOD, STRONG, styled};
use crate::output;
use crate::table::Table;
use crate::visible::visible;
use tools::counted;

/// Write the definitions of all linked tools to a lock file, or check them against it
///
/// Prints what changed since the file was written, with the effect on callers. With --check, exits with 1 if anything changed, so
/// that each change is reviewed: run `lock` and commit the file to accept it.
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
        let of = |verdict| {
            differences
                .iter()
                .filter(|it| it.verdict == verdict)
                .count()
        };
        let counts = [
            Compatibility::Incompatible,
            Compatibility::Unknown,
            Compatibility::Compatible,
        ];
        let counts = counts
            .map(|verdict| format!("{} {verdict}", of(verdict)))
            .join(", ");
        let advice = match self.check {
            true => format!(
                "; run {} to accept the changes",
                visible(&lock_file::command(&self.file))
            ),
            false => String::new(),
        };
        format!("{start}, changes: {counts}{advice}")
    }
}

/// Returns the differences by tool.
fn page(differences: &[Difference], width: usize) -> String {
    let mut text = String::new();
    for of_tool in differences.chunk_by(|a, b| a.tool == b.tool) {
        text += &format!("{}\n", styled(STRONG, visible(&of_tool[0].tool)));
        for difference in of_tool {
            text += &line(difference).wrapped(width);
        }
    }
    text
}

fn line(difference: &Difference) -> Table<2> {
    let style = match difference.verdict {
        Compatibility::Incompatible => BAD,
        Compatibility::Unknown => ALERT,
        Compatibility::Compatible => FAINT,
    };
    let change = difference.change.to_string();
    let text = match difference.place.as_str() {
        "" => change,
        place => format!("{place}: {change}"),
    };
    let mut table = Table::new([style, Style::new()], 2);
    table.push([
        format!("{:12}", difference.verdict),
        visible(&text).into_owned(),
    ]);
    table
}
