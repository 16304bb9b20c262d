//! `lock`

mod compare;
mod difference;
mod schema;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anstyle::Style;
use host::style::{ALERT, BAD, GOOD, STRONG, paint};
use host::table::Table;
use host::{
    Argument, Arguments, Command, CommandContext, CommandError, CommandGroup, Exit, ValueForm,
    ValueKind, fit,
};
use tools::visible::visible;
use tools::{Tool, counted};

use self::compare::compare;
use self::difference::Difference;
use crate::error::AuthoringError;
use crate::lock_file::{self, LockError};

pub(crate) const LOCK: Command = Command {
    about: "Write the definitions of all linked tools to a lock file, or check them against it",
    details: "Prints what changed since the file was written. With --check, exits with 1 if anything changed, so that each change is \
              reviewed: run `lock` and commit the file to accept it.\n\n\
              A change is breaking by these rules, each applied to its place alone:\n\n\
              - a tool or a former name is removed or means another tool, or a tool is renamed;\n\n\
              - an argument is required now, or is removed where additionalProperties is false, or additionalProperties is false now;\n\n\
              - a type, a value of an enum or an alternative is removed, or types or values are listed where all were accepted;\n\n\
              - a bound such as maxLength is tighter or new;\n\n\
              - an effect is added, or the effects are unbounded now.\n\n\
              Any other change is for a person to look at.",
    group: CommandGroup::MakeTools,
    rank: 80,
    examples: "lock                 # Write the definitions to tools.lock
               lock --check         # Fail if a definition has changed
               lock --check --json  # Print the differences for a script",
    arguments: &[
        Argument::flag(
            "check",
            "Write nothing; exit with 1 if a definition differs from the file",
        ),
        Argument::Value {
            name: "file",
            value: "FILE",
            form: ValueForm::Default(lock_file::USUAL),
            kind: ValueKind::Path,
            help: "The lock file",
        },
        Argument::flag(
            "json",
            "Print the differences as JSON, one document per line",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(lock(arguments, cx)?) })),
    ..Command::new("lock")
};

/// The call of the command.
struct LockCall<'a> {
    file: PathBuf,
    is_check: bool,
    is_json: bool,
    cx: &'a dyn CommandContext,
}

fn lock(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, AuthoringError> {
    if let Some(unusable) = AuthoringError::of_unusable() {
        return Err(unusable);
    }
    let linked = tools::list();
    let linked: Vec<Tool> = linked.iter().map(|entry| entry.tool().clone()).collect();
    let file = arguments.path("file").unwrap_or(lock_file::USUAL.into());
    let call = LockCall {
        file,
        is_check: arguments.is_given("check"),
        is_json: arguments.is_given("json"),
        cx,
    };
    if call.is_check {
        let differences = compare(&lock_file::read(&call.file)?, &linked);
        call.print(&differences, linked.len())?;
        return Ok(Exit::Failed.when(!differences.is_empty()));
    }
    let differences = match lock_file::read(&call.file) {
        Err(LockError::Missing { .. }) => Vec::new(),
        Err(error) => {
            cx.warn(&format!("{error}; the file is replaced"));
            Vec::new()
        }
        Ok(locked) => compare(&locked, &linked),
    };
    lock_file::write(&call.file, &linked)?;
    call.print(&differences, linked.len())?;
    Ok(Exit::Success)
}

impl LockCall<'_> {
    fn print(&self, differences: &[Difference], count: usize) -> Result<(), CommandError> {
        if self.is_json {
            return differences
                .iter()
                .try_for_each(|difference| self.cx.write_json(difference));
        }
        let width = self.cx.width();
        let text = format!(
            "{}{}",
            page(differences, width),
            fit::hanging(&self.totals(differences, count), width, "", "  ")
        );
        self.cx.write_page(&text)
    }

    fn totals(&self, differences: &[Difference], count: usize) -> String {
        let file = self.file.display().to_string();
        let start = format!("{}: {}", visible(&file), counted(count as u64, "tool"));
        if differences.is_empty() {
            let state = if self.is_check {
                "unchanged"
            } else {
                "written"
            };
            return format!("{start}, {}", paint(GOOD, state));
        }
        let breaking = differences.iter().filter(|it| it.breaking.is_some());
        let breaking = breaking.count();
        let others = differences.len() - breaking;
        let mut text = format!("{start}, changes: {breaking} breaking, {others} to look at");
        if self.is_check {
            let command = lock_file::command(&self.file);
            text += &format!("; run {} to accept the changes", visible(&command));
        }
        text
    }
}

/// Returns the differences by tool.
fn page(differences: &[Difference], width: usize) -> String {
    let mut text = String::new();
    for of_tool in differences.chunk_by(|a, b| a.tool == b.tool) {
        text += &format!("{}\n", paint(STRONG, visible(&of_tool[0].tool)));
        for difference in of_tool {
            text += &lines(difference).wrap(width);
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
