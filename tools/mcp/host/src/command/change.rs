//! `toolcrib mcp add` and `remove`

use std::path::Path;
use std::sync::Arc;

use host::{
    Argument, ArgumentRule, Arguments, Command, CommandContext, Exit, ValueForm, ValueKind, program,
};
use serde_json::Value;
use tools_mcp::client::{OAuthClient, ServerName};
use tools_mcp::config::{FileOwner, Transport};
use tools_mcp::trust::Pins;

use super::connect;
use crate::error::McpError;
use crate::inventory::Inventory;

pub(super) const ADD: Command = Command {
    about: "Add a server, or change the one of this name: a command, or a URL with --url",
    arguments: &[
        Argument::value::<String>(
            ValueForm::Required,
            "name",
            "NAME",
            "The name: letters, digits, `_`, `.` and `-`",
        ),
        Argument::value::<String>(
            ValueForm::Trailing,
            "command",
            "COMMAND",
            "The program and its arguments",
        ),
        Argument::value::<String>(
            ValueForm::NamedMany,
            "env",
            "NAME=VALUE",
            "A variable of the server's environment; repeatable. ${VAR} in a value is read when the server starts",
        ),
        Argument::Value {
            name: "cwd",
            value: "DIR",
            form: ValueForm::Named,
            kind: ValueKind::Path,
            help: "The working directory of the server [default: the root]",
        },
        Argument::value::<String>(
            ValueForm::Named,
            "url",
            "URL",
            "The URL of a server that is reached by streamable HTTP",
        ),
        Argument::value::<String>(
            ValueForm::NamedMany,
            "header",
            "NAME: VALUE",
            "A header of each request, such as 'Authorization: Bearer ${TOKEN}'; repeatable",
        ),
        Argument::value::<String>(
            ValueForm::NamedMany,
            "effects",
            "TOOL=EFFECTS",
            "The effects of a tool, or of all tools with `*`: TOOL=read_only, TOOL=pure, or TOOL= and JSON such as \
             {\"writes\": [\"mail:{to}\"]}; repeatable",
        ),
        Argument::flag(
            "allow",
            "Call the tools without declared effects without a question",
        ),
        Argument::flag(
            "project",
            "Add it to the project's file, which others may share",
        ),
        Argument::Root,
    ],
    rules: &[
        ArgumentRule::Conflicts("command", "url"),
        ArgumentRule::RequiredWithout("command", "url"),
        ArgumentRule::Conflicts("env", "url"),
        ArgumentRule::Conflicts("cwd", "url"),
        ArgumentRule::Conflicts("header", "command"),
        ArgumentRule::Conflicts("effects", "project"),
        ArgumentRule::Conflicts("allow", "project"),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(add(arguments, cx)?) })),
    ..Command::new("add")
};

pub(super) const REMOVE: Command = Command {
    about: "Remove a server with its approval, the definitions of its tools and the login to it",
    arguments: &[
        NAME,
        Argument::flag("project", "Remove it from the project's file"),
        Argument::Root,
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(remove(arguments, cx)?) })),
    ..Command::new("remove")
};

/// The argument that names a server which is not connected.
pub(super) const NAME: Argument =
    Argument::value::<String>(ValueForm::Required, "name", "NAME", "The name");

/// Reads the files of servers. The project's one must be readable to be changed.
fn load(cx: &dyn CommandContext, is_of_project: bool) -> Result<Inventory, McpError> {
    if is_of_project {
        Inventory::load_whole(Path::new(&cx.workspace()?))
    } else {
        connect::load(cx)
    }
}

/// Adds a server, or changes it.
fn add(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let name = connect::name(arguments)?;
    let command: Vec<String> = arguments.values("command")?;
    let is_allowed = arguments.is_given("allow");
    let is_of_project = arguments.is_given("project");
    let server = name.parse::<ServerName>();
    let server = server.map_err(|error| McpError::unusable(&name, error))?;
    let pair = |text: &str, separator: char, form: &str| match text.split_once(separator) {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim_start().to_owned()))
        }
        _ => Err(McpError::unusable(&name, format!("{text:?} is not {form}"))),
    };
    let pairs = |flag: &str, separator: char, form: &str| {
        let texts = arguments.values::<String>(flag)?;
        let pairs = texts.iter().map(|text| pair(text, separator, form));
        pairs.collect::<Result<_, McpError>>()
    };
    let transport = match (arguments.value("url")?, command.split_first()) {
        (Some(url), _) => Transport::Http {
            url,
            headers: pairs("header", ':', "a header; write NAME: VALUE")?,
            oauth: OAuthClient::default(),
        },
        (None, Some((command, args))) => Transport::Stdio {
            command: command.clone(),
            args: args.to_vec(),
            env: pairs("env", '=', "a variable; write NAME=VALUE")?,
            cwd: arguments
                .path("cwd")
                .map(|cwd| cwd.to_string_lossy().into_owned()),
        },
        (None, None) => {
            let reason = "name a command, or a URL with --url";
            return Err(McpError::unusable(&name, reason));
        }
    };
    let effects = arguments.values::<String>("effects")?;
    let effects = effects.iter().map(|text| {
        let (tool, declared) = pair(text, '=', "the effects of a tool; write TOOL=read_only")?;
        let declared = serde_json::from_str(&declared).unwrap_or(Value::String(declared));
        Ok((tool, declared))
    });
    let effects = effects.collect::<Result<Vec<(String, Value)>, McpError>>()?;
    let mut inventory = load(cx, is_of_project)?;
    let (file, owner) = if is_of_project {
        (&mut inventory.project, FileOwner::Project)
    } else {
        (&mut inventory.user, FileOwner::User)
    };
    let is_present = file.servers().any(|(found, _)| found == name);
    file.set(&server, &transport)?;
    if !effects.is_empty() || is_allowed {
        file.decide(&server, effects, is_allowed)?;
    }
    file.write(owner)?;
    let path = file.path().display();
    program::note(&if is_present {
        format!("replaced the server {name} in {path}")
    } else {
        format!("{path} has the server {name}")
    });
    let next = if is_of_project { "approve" } else { "test" };
    cx.hint(&format!("run {} mcp {next} {name}", program::name()));
    Ok(Exit::Success)
}

/// Removes a server, its approval, its variables, its pins and its login.
fn remove(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let name = &*connect::name(arguments)?;
    let is_of_project = arguments.is_given("project");
    let mut inventory = load(cx, is_of_project)?;
    let owner = if is_of_project {
        FileOwner::Project
    } else {
        FileOwner::User
    };
    let mut servers = inventory.servers().into_iter();
    let configured = servers.find(|(found, of, _)| found == name && *of == owner);
    if let Some((.., Ok(configured))) = configured {
        // Damaged pins are removed by hand, as the error says.
        let pins = inventory.pins(&configured)?;
        Arc::into_inner(pins).map(Pins::remove).transpose()?;
        inventory.remove_tokens(&configured)?;
    }
    if is_of_project {
        let workspace = inventory.workspace.clone();
        inventory.approvals().revoke(&workspace, name)?;
        // Another server of this name must not get its variables.
        if inventory.user.remove_project_settings(&workspace, name) {
            inventory.user.write(FileOwner::User)?;
        }
    }
    let file = if is_of_project {
        &mut inventory.project
    } else {
        &mut inventory.user
    };
    if !file.remove(name) {
        return Err(McpError::NoServer(name.to_owned()));
    }
    file.write(owner)?;
    let path = file.path().display();
    program::note(&format!("removed the server {name} from {path}"));
    Ok(Exit::Success)
}
