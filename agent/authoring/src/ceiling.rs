//! `audit ceiling`

use std::collections::BTreeMap;
use std::sync::Arc;

use anstyle::Style;
use host::style::{ALERT, STRONG, paint};
use host::{Argument, Command, CommandContext, CommandError, Exit};
use serde_json::json;
use tools::{Clause, Entry, ToolName, join};

use crate::error::AuthoringError;
use host::table::Table;
use tools::visible::visible;

/// Prints all targets that the linked tools could touch.
pub(crate) const CEILING: Command = Command {
    about: "Print all targets that the linked tools could touch, by crate",
    details: "Each line is a clause and its tools: granting the clause would permit every call of these tools.",
    arguments: &[Argument::flag(
        "json",
        "Print the crates and the harmless commands as JSON, one document per line",
    )],
    run: Some(|arguments, cx| Box::pin(async { print_ceiling(arguments.is_given("json"), cx) })),
    ..Command::new("ceiling")
};

/// The targets that the tools of one crate could touch.
#[derive(Default)]
struct Reach {
    touched: BTreeMap<Clause, Vec<ToolName>>,
    /// The tools without effects.
    pure: Vec<ToolName>,
}

fn print_ceiling(is_json: bool, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let entries = tools::list();
    let crates = by_crate(&entries);
    if is_json {
        crates.iter().try_for_each(|((name, version), reach)| {
            cx.write_json(&reach.document(name, version))
        })?;
        for (family, clause, reason) in host::harmless_commands() {
            cx.write_json(&json!({"family": family, "harmless": clause, "reason": reason}))?;
        }
    } else {
        let width = cx.width();
        let pages = crates.iter();
        let pages = pages.map(|((name, version), reach)| reach.page(name, version, width));
        cx.write_page(&(join(pages, "\n") + &harmless_page(width)))?;
    }
    if let Some(unusable) = AuthoringError::of_unusable() {
        cx.warn(&unusable.to_string());
    }
    Ok(Exit::Success)
}

impl Reach {
    fn document(&self, name: &str, version: &str) -> serde_json::Value {
        let touched: Vec<_> = self
            .touched
            .iter()
            .map(|(clause, tools)| json!({"clause": clause, "tools": tools, "runs_programs": clause.runs_programs()}))
            .collect();
        json!({"crate": name, "version": version, "touches": touched, "pure": self.pure})
    }

    fn page(&self, name: &str, version: &str, width: usize) -> String {
        let mut table = Table::new([ALERT, Style::new()], 2);
        for (clause, tools) in &self.touched {
            let runs_programs = clause.runs_programs();
            let mark = runs_programs.then_some(" (also programs that run others)");
            let names = join(tools, ", ") + mark.unwrap_or_default();
            table.push([visible(clause.as_str()).into_owned(), names]);
        }
        if !self.pure.is_empty() {
            table.push(["nothing".to_owned(), join(&self.pure, ", ")]);
        }
        format!(
            "{} {}\n{}",
            paint(STRONG, visible(name)),
            visible(version),
            table.wrap(width)
        )
    }
}

/// Returns the part of the page about the harmless commands. Empty if no family has any.
fn harmless_page(width: usize) -> String {
    let mut table = Table::new([ALERT, Style::new()], 2);
    let mut is_empty = true;
    for (_, clause, reason) in host::harmless_commands() {
        is_empty = false;
        table.push([clause.to_owned(), reason.to_owned()]);
    }
    if is_empty {
        return String::new();
    }
    let head = paint(STRONG, "Run without a question");
    format!(
        "\n{head} in sessions that you start (harmless_commands = false turns them off)\n{}",
        table.wrap(width)
    )
}

fn by_crate(entries: &[Arc<Entry>]) -> BTreeMap<(&str, &str), Reach> {
    let mut crates: BTreeMap<_, Reach> = BTreeMap::new();
    for entry in entries {
        let source = entry.source();
        let reach = crates.entry((&*source.crate_name, &*source.version));
        let reach = reach.or_default();
        let ceiling = entry.tool().effects.ceiling(entry.name());
        if ceiling.is_empty() {
            reach.pure.push(entry.name().clone());
        }
        for clause in ceiling {
            let tools = reach.touched.entry(clause).or_default();
            tools.push(entry.name().clone());
        }
    }
    crates
}
