//! What a chat shows of itself.

use agent::ToolSet;
use anstyle::Style;
use clap::CommandFactory as _;

use super::command::Commands;
use crate::notice::{ALERT, STRONG};
use crate::sentence;
use crate::table::Table;
use crate::visible::visible;

const KEYS: [[&str; 2]; 5] = [
    [
        "Enter",
        "sends the prompt; after a backslash it begins another line, as Alt-Enter does, and pasted lines stay lines",
    ],
    ["Ctrl-C", "takes back what is typed or what runs; a second one ends the program if that does not stop"],
    ["Ctrl-D", "ends the chat, at an empty prompt"],
    ["Up, Ctrl-R", "find what was typed before"],
    ["// or a space", "begins a prompt that is no command; what begins with a space stays out of the history"],
];

/// The tools of a session with what they touch, and those left out with the reason.
pub(super) fn tools(tools: &ToolSet, width: Option<usize>) -> String {
    let mut table = Table::new([STRONG, Style::new(), Style::new()], 0);
    for tool in tools.definitions() {
        let cells = [&*tool.name, &tool.effects.to_string(), &sentence::first(&tool.description)];
        table.push(cells.map(|cell| visible(cell).into_owned()));
    }
    let mut left_out = Table::new([ALERT, Style::new()], 0);
    for tool in tools.skipped() {
        left_out.push([tool.name.to_string(), format!("left out: {}", visible(&tool.reason.to_string()))]);
    }
    let page = table.cut(width) + &left_out.wrapped(width);
    if page.is_empty() { "this session has no tools; /select picks some\n".to_owned() } else { page }
}

/// The commands and keys.
pub(super) fn help(width: Option<usize>) -> String {
    let mut table = Table::new([STRONG, Style::new()], 0);
    for command in Commands::command().get_subcommands() {
        let arguments = command.get_positionals().flat_map(|argument| argument.get_value_names().unwrap_or_default());
        let arguments: String = arguments.map(|name| format!(" [{name}…]")).collect();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        table.push([format!("{}{arguments}", command.get_name()), about]);
    }
    KEYS.iter().for_each(|row| table.push(row.map(str::to_owned)));
    table.wrapped(width)
}

#[cfg(test)]
mod tests {
    use agent::Selection;
    use serde_json::json;
    use tools::{Catalog, Effects, Services, Tool, ToolContext};

    use super::*;

    #[test]
    fn every_command_is_in_the_help() {
        let help = anstream::adapter::strip_str(&help(None)).to_string();
        for name in ["/tools", "/select [GLOB…]", "/grant [CLAUSE…]", "/clear", "/help", "/quit", "Alt-Enter", "Ctrl-D"]
        {
            assert!(help.contains(name), "{name} is not in {help}");
        }
    }

    #[test]
    fn tools_are_shown_with_what_they_touch() {
        let mut catalog = Catalog::new();
        let tool = Tool::new("ping", "Answers. At once.", json!({"type": "object"})).unwrap();
        let ping = async |_: ToolContext, _: serde_json::Value| "pong".to_owned();
        catalog.register(tool.with_effects(Effects::Pure), ping).unwrap();
        let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
        assert_eq!(anstream::adapter::strip_str(&tools(&set, None)).to_string(), "ping  pure  Answers.\n");
        assert!(tools(&ToolSet::default(), None).contains("/select"));
    }
}
