//! `audit ceiling`

use std::collections::BTreeMap;
use std::sync::Arc;

use anstyle::Style;
use host::style::{ALERT, STRONG, styled};
use host::{Argument, Command, CommandContext, CommandError, Exit};
use serde_json::json;
use tools::{Clause, Entry, Source, ToolName};

use crate::error::AuthoringError;
use host::table::Table;
use tools::visible::visible;

/// Prints all targets that the linked tools could touch.
pub(crate) const CEILING: Command = Command {
    about: "Print all targets that the linked tools could touch, by crate",
    details: "Each line is a clause and its tools: granting the clause would permit every call of these tools.",
    arguments: &[Argument::flag(
        "json",
        "Print the crates as JSON, one document per line",
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
    } else {
        let width = cx.width();
        let pages = crates
            .iter()
            .map(|((name, version), reach)| reach.page(name, version, width));
        cx.write_page(&pages.collect::<Vec<_>>().join("\n"))?;
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
            let mark = if clause.runs_programs() {
                " (also programs that run others)"
            } else {
                ""
            };
            table.push([
                visible(clause.as_str()).into_owned(),
                format!("{}{mark}", listed(tools)),
            ]);
        }
        if !self.pure.is_empty() {
            table.push(["nothing".to_owned(), listed(&self.pure)]);
        }
        format!(
            "{} {}\n{}",
            styled(STRONG, visible(name)),
            visible(version),
            table.wrapped(width)
        )
    }
}

fn by_crate(entries: &[Arc<Entry>]) -> BTreeMap<(&str, &str), Reach> {
    let mut crates: BTreeMap<_, Reach> = BTreeMap::new();
    for entry in entries {
        let Source {
            crate_name,
            version,
            ..
        } = entry.source();
        let reach = crates.entry((&**crate_name, &**version)).or_default();
        let ceiling = entry.tool().effects.ceiling(entry.name());
        if ceiling.is_empty() {
            reach.pure.push(entry.name().clone());
        }
        for clause in ceiling {
            reach
                .touched
                .entry(clause)
                .or_default()
                .push(entry.name().clone());
        }
    }
    crates
}

fn listed(tools: &[ToolName]) -> String {
    tools
        .iter()
        .map(ToolName::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}
