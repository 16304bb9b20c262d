//! The pages of `/tools` and `/help`.

use std::sync::Arc;

use agent::{ToolSet, WireToolSet};
use anstyle::Style;
use clap::{ArgAction, CommandFactory as _};

use super::command::SlashCommandParser;
use crate::notice::{ALERT, STRONG};
use crate::tool_list;
use host::table::Table;
use tools::visible::visible;

const KEYS: [[&str; 2]; 9] = [
    [
        "Enter",
        "sends the prompt; after a backslash it starts another line, like Alt-Enter; pasted lines stay lines",
    ],
    [
        "Ctrl-C",
        "discards the typed text or cancels the run; a second one ends the program if the run does not stop",
    ],
    ["Ctrl-D", "ends the chat, at an empty prompt"],
    [
        "Enter, in a run",
        "sends the typed line, which the model reads with its next request; commands wait for the end of the run",
    ],
    [
        "@FILE",
        "adds a file of the workspace to the prompt, if the grant permits reading it: an image, or text",
    ],
    [
        "!COMMAND",
        "runs a program, or a script with pipes and the like, by the rules for the model's; the model reads its output",
    ],
    [
        "Tab",
        "completes a command, and the path of a file that the session may read",
    ],
    ["Up, Ctrl-R", "recall and search earlier prompts"],
    [
        "// or a space",
        "starts a prompt that is no command; a space also keeps it out of the history",
    ],
];

/// Returns the tools of a session, and the skipped tools with the reasons: those that its model is not sent, or without one no model.
pub(super) fn tools(
    tools: &ToolSet,
    wire: Option<&WireToolSet>,
    is_long: bool,
    width: usize,
) -> String {
    let page = tool_list::page(tools.list().iter().map(Arc::as_ref), is_long, width);
    let mut skipped = Table::new([ALERT, Style::new()], 0);
    for tool in wire.map_or(tools.list_skipped(), WireToolSet::list_skipped) {
        skipped.push([
            tool.name.to_string(),
            format!("skipped: {}", visible(&tool.reason.to_string())),
        ]);
    }
    let page = page + &skipped.wrap(width);
    if page.is_empty() {
        "this session has no tools; select some with /select\n".to_owned()
    } else {
        page
    }
}

/// Returns the commands, those of prompts, and the keys.
pub(super) fn help(prompts: Vec<[String; 2]>, width: usize) -> String {
    let mut table = Table::new([STRONG, Style::new()], 0);
    for command in SlashCommandParser::command().get_subcommands() {
        let arguments = command.get_positionals().flat_map(|argument| {
            let is_list = matches!(argument.get_action(), ArgAction::Append);
            let more = if is_list { "…" } else { "" };
            let names = argument.get_value_names().unwrap_or_default();
            names.iter().map(move |name| format!(" [{name}{more}]"))
        });
        let arguments: String = arguments.collect();
        let about = command.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default();
        table.push([format!("{}{arguments}", command.get_name()), about]);
    }
    prompts.into_iter().for_each(|row| table.push(row));
    KEYS.iter()
        .for_each(|row| table.push(row.map(str::to_owned)));
    table.wrap(width)
}

/// Returns the commands of prompts.
pub(super) fn prompts(prompts: Vec<[String; 2]>, width: usize) -> String {
    let mut table = Table::new([STRONG, Style::new()], 0);
    prompts.into_iter().for_each(|row| table.push(row));
    let page = table.wrap(width);
    if page.is_empty() {
        "the MCP servers of this session have no prompts\n".to_owned()
    } else {
        page
    }
}

#[cfg(test)]
mod tests {
    use agent::Selection;
    use serde_json::json;
    use tools::{Catalog, Effects, Services, Tool, ToolContext};

    use super::*;

    #[test]
    fn every_command_is_in_the_help() {
        let help =
            anstream::adapter::strip_str(&help(vec![["/s:p [a=…]", "A."].map(str::to_owned)], 80))
                .to_string();
        for name in [
            "/tools",
            "/select [GLOB…]",
            "/grant [CLAUSE…]",
            "/prompts",
            "/clear",
            "/last",
            "/diff",
            "/model [NAME]",
            "/cost",
            "/compact",
            "/resume [ID]",
            "!COMMAND",
            "Tab",
            "/help",
            "/quit",
            "/s:p [a=…]",
            "Alt-Enter",
            "Ctrl-D",
        ] {
            assert!(help.contains(name), "{name} is not in {help}");
        }
    }

    #[test]
    fn tools_are_shown_with_their_effects_in_a_long_list() {
        let mut catalog = Catalog::new();
        let tool = Tool::new("ping", "Answers. At once.", json!({"type": "object"})).unwrap();
        let ping = async |_: ToolContext, _: serde_json::Value| "pong".to_owned();
        catalog
            .register(tool.with_effects(Effects::Pure), ping)
            .unwrap();
        let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
        let page =
            |is_long| anstream::adapter::strip_str(&tools(&set, None, is_long, 80)).to_string();
        assert_eq!(page(false), "ping  Answers.\n");
        assert!(page(true).starts_with("ping  Answers.\n      pure\n"));
        assert!(tools(&ToolSet::default(), None, false, 80).contains("/select"));
    }
}
