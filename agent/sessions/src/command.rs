//! The command `sessions`.

use host::{Argument, Command, CommandGroup, Exit, ValueForm, ValueKind};

use crate::{change, list};

/// The option for JSON.
const JSON: &str = "json";

/// Lists, copies and erases sessions.
pub(crate) const SESSIONS: Command = Command {
    about: "List the recorded sessions of this workspace, the newest first; erase or fork one",
    group: CommandGroup::Use,
    rank: 30,
    examples: "sessions               # List the sessions of this workspace
               sessions --all --json  # List those of all workspaces for a script
               sessions fork 1nk2     # Try another way from a session, whose ID begins so",
    details: "Each `run` and `chat` is recorded in the state folder, unless --no-journal or a setting turns that off. --resume continues a session.",
    arguments: &[
        Argument::flag("all", "List the sessions of all workspaces"),
        Argument::Root,
        Argument::flag(JSON, "Print the sessions as JSON, one document per line"),
    ],
    commands: &[FORK, ERASE, PRUNE],
    run: Some(|arguments, cx| {
        Box::pin(async move {
            let is_all = arguments.is_given("all");
            let workspace = (!is_all).then(|| cx.workspace()).transpose()?;
            list::list(cx, workspace.as_deref(), arguments.is_given(JSON))?;
            Ok(Exit::Success)
        })
    }),
    ..Command::new("sessions")
};

const FORK: Command = Command {
    about: "Copy a session and print the ID of the copy, to be continued with --resume. Finished calls are not run again",
    arguments: &[
        Argument::value::<String>(
            ValueForm::Optional,
            "id",
            "ID",
            "The ID or its beginning [default: the newest session of this workspace]",
        ),
        Argument::Root,
    ],
    run: Some(|arguments, cx| {
        Box::pin(async move {
            let id: Option<String> = arguments.value("id")?;
            change::fork(cx, id.as_deref(), &cx.workspace()?)?;
            Ok(Exit::Success)
        })
    }),
    ..Command::new("fork")
};

const ERASE: Command = Command {
    about: "Erase sessions: their conversations and calls",
    arguments: &[
        Argument::value::<String>(
            ValueForm::Many,
            "ids",
            "ID",
            "The IDs or their beginnings; with --journal, the names",
        ),
        Argument::Value {
            name: "journal",
            value: "FILE",
            form: ValueForm::Named,
            kind: ValueKind::Path,
            help: "Erase sessions in this file. Their rows keep the hashes, so that the file can still be verified",
        },
    ],
    run: Some(|arguments, cx| {
        Box::pin(async move {
            let ids: Vec<String> = arguments.values("ids")?;
            match arguments.path("journal") {
                Some(file) => change::erase_in_file(cx, &ids, &file)?,
                None => change::erase(cx, &ids)?,
            }
            Ok(Exit::Success)
        })
    }),
    ..Command::new("erase")
};

const PRUNE: Command = Command {
    about: "Remove old sessions, and the oldest ones if all together are too large",
    details: "The limits are the setting sessions.max_age and 1 GB for all, and the newest 10 sessions are kept. Every new session \
              does so too. Open sessions are kept.",
    arguments: &[Argument::Settings],
    run: Some(|_, cx| {
        Box::pin(async move {
            change::prune(cx, &cx.settings()?)?;
            Ok(Exit::Success)
        })
    }),
    ..Command::new("prune")
};
