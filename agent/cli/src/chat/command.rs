//! [`Command`]: what a chat is told with a slash.

use clap::error::ContextKind;
use clap::{Parser, Subcommand};
use tools::protocol::ApprovalDefault;
use tools::{Clause, Target};

use crate::{policy, shell};

/// What a person said.
#[derive(Debug)]
pub(super) enum Said {
    Nothing,
    Prompt(String),
    Command(Command),
}

/// A line that begins with a slash.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
pub(super) struct Commands {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the tools of this session, and those that are left out
    #[command(name = "/tools")]
    Tools,
    /// Pick the tools anew, such as by fs.* and !fs.write, or tell how they are picked
    #[command(name = "/select")]
    Select {
        #[arg(value_name = "GLOB")]
        globs: Vec<String>,
    },
    /// Grant more, such as fs:write:src/**, or tell what is granted
    #[command(name = "/grant")]
    Grant {
        #[arg(value_name = "CLAUSE")]
        clauses: Vec<Clause>,
    },
    /// Forget the conversation, but for the system texts
    #[command(name = "/clear")]
    Clear,
    /// Tell what can be typed
    #[command(name = "/help")]
    Help,
    /// End the chat
    #[command(name = "/quit")]
    Quit,
}

/// Takes a line for what it is. What begins with two slashes or with a space is a prompt in any case.
pub(super) fn said(text: &str) -> Result<Said, String> {
    if text.trim().is_empty() {
        return Ok(Said::Nothing);
    }
    match text.strip_prefix('/') {
        Some(prompt) if prompt.starts_with('/') => Ok(Said::Prompt(prompt.trim_end().to_owned())),
        Some(_) => command(text).map(Said::Command),
        None => Ok(Said::Prompt(text.trim().to_owned())),
    }
}

/// What would have let a refused call touch its targets: a command, and for what always asks, where nobody can be asked, a flag.
pub(crate) fn how_to_grant(needed: &[Target]) -> String {
    let is_asked = |target: &Target| target.approval_default() == ApprovalDefault::AlwaysAsk;
    let (asked, granted): (Vec<_>, Vec<_>) = needed.iter().cloned().partition(is_asked);
    let clauses = granted.iter().map(|target| shell::quoted(target.to_clause().as_str()).into_owned());
    let grant = || format!("type /grant {}", clauses.collect::<Vec<_>>().join(" "));
    let allow = || format!("begin the chat with {}", policy::flags(&asked, |_| "--allow"));
    let ways = [(!granted.is_empty()).then(grant), (!asked.is_empty()).then(allow)];
    format!("to allow it, {}", ways.into_iter().flatten().collect::<Vec<_>>().join(", and "))
}

fn command(text: &str) -> Result<Command, String> {
    let words = shlex::split(text).ok_or("a quote is open; close it, or write the word without quotes")?;
    Commands::try_parse_from(words).map(|commands| commands.command).map_err(|error| reason(text, &error))
}

/// An error of the command line, in the words of a chat.
fn reason(text: &str, error: &clap::Error) -> String {
    let name = text.split_whitespace().next().unwrap_or_default();
    match error.kind() {
        clap::error::ErrorKind::InvalidSubcommand => {
            let near = error.get(ContextKind::SuggestedSubcommand);
            let near = near.map(|near| format!("; there is {near}")).unwrap_or_default();
            format!("there is no command {name}{near}; /help lists them, and a prompt may begin with //")
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
    use super::*;

    #[track_caller]
    fn prompt(text: &str) -> String {
        match said(text) {
            Ok(Said::Prompt(prompt)) => prompt,
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn a_slash_is_a_command_unless_it_is_escaped() {
        assert_eq!(prompt("look around\n"), "look around");
        assert_eq!(prompt("//etc is what?"), "/etc is what?");
        assert_eq!(prompt(" /etc is what?"), "/etc is what?");
        assert!(matches!(said(" \t"), Ok(Said::Nothing)));
        assert!(matches!(said("/quit"), Ok(Said::Command(Command::Quit))));
    }

    #[test]
    fn words_are_those_of_a_shell() {
        let Ok(Said::Command(Command::Grant { clauses })) = said("/grant fs:write:src/** 'fs:read:a b'") else {
            panic!()
        };
        assert_eq!(clauses.iter().map(Clause::as_str).collect::<Vec<_>>(), ["fs:write:src/**", "fs:read:a b"]);
        let Ok(Said::Command(Command::Select { globs })) = said("/select fs.* !fs.write") else { panic!() };
        assert_eq!(globs, ["fs.*", "!fs.write"]);
    }

    #[test]
    fn what_was_refused_can_be_granted_as_it_is_told() {
        let needed: Vec<Target> = ["fs:write:a b*", "fs:read:c"].map(|target| target.parse().unwrap()).into();
        let told = how_to_grant(&needed);
        let Ok(Said::Command(Command::Grant { clauses })) = said(&told[told.find('/').unwrap()..]) else { panic!() };
        assert_eq!(clauses, needed.iter().map(Target::to_clause).collect::<Vec<_>>());
    }

    #[test]
    fn what_always_asks_is_no_matter_of_grants() {
        let needed: Vec<Target> = ["fs:destroy:a b", "fs:write:c"].map(|target| target.parse().unwrap()).into();
        let told = how_to_grant(&needed);
        assert_eq!(told, "to allow it, type /grant fs:write:c, and begin the chat with --allow 'fs:destroy:a b'");
        assert_eq!(how_to_grant(&needed[..1]), "to allow it, begin the chat with --allow 'fs:destroy:a b'");
    }

    #[test]
    fn what_cannot_be_obeyed_is_told_with_what_could() {
        for (text, part) in [
            ("/tolls", "there is /tools"),
            ("/xyzzy", "/help"),
            ("/", "/help"),
            ("/grant 'fs", "a quote is open"),
            ("/grant fs", "fs"),
            ("/tools now", "now"),
        ] {
            let reason = said(text).unwrap_err();
            assert!(
                reason.contains(part) && !reason.contains("error:") && !reason.contains("Usage"),
                "{text}: {reason}"
            );
        }
    }
}
