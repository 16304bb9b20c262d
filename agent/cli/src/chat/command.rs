//! [`SlashCommand`]: the commands of a chat.

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};
use tools::{Clause, join};

use crate::policy;
use host::ungranted::{Ungranted, flags};
use host::{PromptCall, shell};

/// A line of a chat.
#[derive(Debug)]
pub(super) enum ParsedLine {
    Empty,
    Prompt(String),
    ServerPrompt(PromptCall),
    Command(SlashCommand),
    /// A command line after an exclamation mark.
    Program(String),
}

/// The parser of a line that begins with a slash.
#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
pub(super) struct SlashCommandParser {
    #[command(subcommand)]
    command: SlashCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum SlashCommand {
    /// List the tools of this session, and the skipped ones; -l adds effects and sources
    #[command(name = "/tools")]
    Tools {
        #[arg(short, long)]
        long: bool,
    },
    /// Select tools, such as fs.* !fs.write; without arguments, show the selection
    #[command(name = "/select")]
    Select {
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Grant more, such as fs:write:src/**; without arguments, show the grant
    #[command(name = "/grant")]
    Grant {
        #[arg(value_name = "CLAUSE")]
        clauses: Vec<Clause>,
    },
    /// List the prompts of the MCP servers of this session, each a command such as /SERVER:PROMPT NAME=VALUE
    #[command(name = "/prompts")]
    Prompts,
    /// Show the last call, its arguments and its result, whole
    #[command(name = "/last")]
    Last,
    /// Show all changes of files since this session's first change, whoever made them
    #[command(name = "/diff")]
    Diff,
    /// Go on with another model: NAME of this provider, or PROVIDER/NAME; without a name, show the present one
    #[command(name = "/model")]
    Model {
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Show the tokens and the cost of this chat
    #[command(name = "/cost")]
    Cost,
    /// Replace the older part of the conversation by a summary in later requests
    #[command(name = "/compact")]
    Compact,
    /// Go on with the recorded session whose ID begins with ID, or with the newest one of this workspace
    #[command(name = "/resume")]
    Resume {
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Remove the conversation, except the system text
    #[command(name = "/clear")]
    Clear,
    /// List the commands and keys
    #[command(name = "/help")]
    Help,
    /// End the chat
    #[command(name = "/quit")]
    Quit,
}

/// Returns the names of the commands.
pub(super) fn names() -> Vec<String> {
    let command = SlashCommandParser::command();
    let commands = command.get_subcommands();
    commands
        .map(|command| command.get_name().to_owned())
        .collect()
}

/// Parses a line. A line that begins with two slashes or a space is always a prompt.
pub(super) fn parse(text: &str) -> Result<ParsedLine, String> {
    if text.trim().is_empty() {
        return Ok(ParsedLine::Empty);
    }
    match text.strip_prefix('/') {
        Some(prompt) if prompt.starts_with('/') => {
            Ok(ParsedLine::Prompt(prompt.trim_end().to_owned()))
        }
        Some(_) => command(text),
        None if text.starts_with('!') => Ok(ParsedLine::Program(text[1..].trim().to_owned())),
        None => Ok(ParsedLine::Prompt(text.trim().to_owned())),
    }
}

/// Returns the hint that grants the targets of a refused call: a command, or a flag for targets that always ask. Only the command widens
/// the grant that a resumed session began with.
pub(crate) fn how_to_grant(refused: &Ungranted<'_>) -> String {
    let (asked, granted): (Vec<_>, Vec<_>) = refused
        .needed
        .iter()
        .cloned()
        .partition(policy::always_asks);
    let clauses = granted
        .iter()
        .map(|target| shell::quote(target.to_clause().as_str()));
    let restart = if refused.is_beyond(&asked) {
        "start a new chat"
    } else {
        "restart the chat"
    };
    let ways = [
        (!granted.is_empty()).then(|| format!("type /grant {}", join(clauses, " "))),
        (!asked.is_empty()).then(|| format!("{restart} with {}", flags(&asked, |_| "--allow"))),
    ];
    format!(
        "to allow it, {}",
        join(ways.into_iter().flatten(), ", and ")
    )
}

fn command(text: &str) -> Result<ParsedLine, String> {
    let words = shlex::split(text).ok_or("unclosed quote; close it, or remove it")?;
    if let Some(call) = PromptCall::parse(&words)? {
        return Ok(ParsedLine::ServerPrompt(call));
    }
    let parsed = SlashCommandParser::try_parse_from(words);
    parsed
        .map(|commands| ParsedLine::Command(commands.command))
        .map_err(|error| reason(text, &error))
}

/// Returns the text of a parser error, without the usage of a command line.
fn reason(text: &str, error: &clap::Error) -> String {
    let name = text.split_whitespace().next().unwrap_or_default();
    match error.kind() {
        clap::error::ErrorKind::InvalidSubcommand => {
            let near = error.get(ContextKind::SuggestedSubcommand);
            // The last one is the nearest.
            let near = near.and_then(|near| match near {
                ContextValue::Strings(names) => names.last(),
                ContextValue::String(name) => Some(name),
                _ => None,
            });
            let near = near.map(|near| format!("; did you mean {near}?"));
            let near = near.unwrap_or_default();
            format!(
                "unknown command {name}{near}; /help lists all; start a prompt with // instead of /"
            )
        }
        _ => {
            let text = error.render().to_string();
            let text = text.split("\n\nUsage:").next().unwrap_or_default();
            text.trim_start_matches("error: ").trim_end().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use tools::{Grant, Target};

    use super::*;

    fn of_new_session(needed: &[Target]) -> Ungranted<'_> {
        Ungranted {
            needed,
            missing: needed,
            first: None,
            answered: None,
            consenting_flag: policy::consenting_flag,
        }
    }

    #[track_caller]
    fn prompt(text: &str) -> String {
        match parse(text) {
            Ok(ParsedLine::Prompt(prompt)) => prompt,
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn a_slash_is_a_command_unless_it_is_escaped() {
        assert_eq!(prompt("look around\n"), "look around");
        assert_eq!(prompt("//etc is what?"), "/etc is what?");
        assert_eq!(prompt(" /etc is what?"), "/etc is what?");
        assert!(matches!(parse(" \t"), Ok(ParsedLine::Empty)));
        assert!(matches!(
            parse("/quit"),
            Ok(ParsedLine::Command(SlashCommand::Quit))
        ));
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let Ok(ParsedLine::Command(SlashCommand::Grant { clauses })) =
            parse("/grant fs:write:src/** 'fs:read:a b'")
        else {
            panic!()
        };
        assert_eq!(
            clauses.iter().map(Clause::as_str).collect::<Vec<_>>(),
            ["fs:write:src/**", "fs:read:a b"]
        );
        let Ok(ParsedLine::Command(SlashCommand::Select { globs })) =
            parse("/select fs.* !fs.write")
        else {
            panic!()
        };
        assert_eq!(globs, ["fs.*", "!fs.write"]);
    }

    #[test]
    fn a_colon_makes_a_prompt_of_a_server() {
        let Ok(ParsedLine::ServerPrompt(call)) = parse("/docs:a:b topic='two words' empty=") else {
            panic!()
        };
        assert_eq!((&*call.server, &*call.prompt), ("docs", "a:b"));
        let arguments = [("topic", "two words"), ("empty", "")]
            .map(|(name, value)| (name.into(), value.into()));
        assert_eq!(call.arguments, arguments);
        for (text, part) in [
            ("/docs:a topic", "NAME=VALUE"),
            ("/docs:a =x", "NAME=VALUE"),
            ("/docs:a 'x", "quote"),
        ] {
            assert!(parse(text).unwrap_err().contains(part), "{text}");
        }
    }

    #[test]
    fn the_hint_of_a_refused_call_is_a_valid_command() {
        let needed: Vec<Target> = ["fs:write:a b*", "fs:read:c"]
            .map(|target| target.parse().unwrap())
            .into();
        let hint = how_to_grant(&of_new_session(&needed));
        let Ok(ParsedLine::Command(SlashCommand::Grant { clauses })) =
            parse(&hint[hint.find('/').unwrap()..])
        else {
            panic!()
        };
        assert_eq!(
            clauses,
            needed.iter().map(Target::to_clause).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_target_that_always_asks_needs_a_flag() {
        let needed: Vec<Target> = ["fs:destroy:a b", "fs:write:c"]
            .map(|target| target.parse().unwrap())
            .into();
        let hint = how_to_grant(&of_new_session(&needed));
        assert_eq!(
            hint,
            "to allow it, type /grant fs:write:c, and restart the chat with --allow 'fs:destroy:a b'"
        );
        assert_eq!(
            how_to_grant(&of_new_session(&needed[..1])),
            "to allow it, restart the chat with --allow 'fs:destroy:a b'"
        );
    }

    #[test]
    fn a_restart_does_not_widen_the_grant_that_a_session_began_with() {
        let needed: Vec<Target> = ["fs:destroy:a", "fs:write:c"]
            .map(|target| target.parse().unwrap())
            .into();
        for (first, way) in [
            ("fs:write:c", "start a new chat with"),
            ("fs:*:**", "restart the chat with"),
        ] {
            let first = Grant::parse([first]).unwrap();
            let hint = how_to_grant(&Ungranted {
                first: Some(&first),
                ..of_new_session(&needed)
            });
            assert!(
                hint.contains("type /grant fs:write:c") && hint.contains(way),
                "{hint}"
            );
        }
    }

    #[test]
    fn a_parse_error_names_the_alternative() {
        for (text, part) in [
            ("/tolls", "did you mean /tools"),
            ("/xyzzy", "/help"),
            ("/", "/help"),
            ("/grant 'fs", "unclosed quote"),
            ("/grant fs", "fs"),
            ("/tools now", "now"),
        ] {
            let reason = parse(text).unwrap_err();
            assert!(
                reason.contains(part) && !reason.contains("error:") && !reason.contains("Usage"),
                "{text}: {reason}"
            );
        }
    }
}
