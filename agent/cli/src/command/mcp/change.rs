//! `toolcrib mcp add` and `remove`

use std::sync::Arc;

use serde_json::Value;
use tools_mcp::client::ServerName;
use tools_mcp::config::{FileOwner, OAuthClient, Transport};
use tools_mcp::trust::Pins;

use super::AddOptions;
use crate::error::Error;
use crate::mcp::Inventory;
use crate::notice;
use crate::program;
use crate::root::RootOption;

/// Adds a server, or changes it.
pub(super) fn add(options: AddOptions) -> Result<(), Error> {
    let AddOptions {
        name,
        command,
        env,
        cwd,
        url,
        header,
        effects,
        allow,
        project,
        root,
    } = options;
    let refused = |reason: String| Error::Server {
        server: name.clone(),
        reason,
    };
    let server: ServerName = name
        .parse()
        .map_err(|error: tools_mcp::client::InvalidServerName| refused(error.to_string()))?;
    let pair = |text: &str, separator: char, form: &str| match text.split_once(separator) {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim_start().to_owned()))
        }
        _ => Err(refused(format!("{text:?} is not {form}"))),
    };
    let transport = match (url, command.split_first()) {
        (Some(url), _) => {
            let headers = header
                .iter()
                .map(|text| pair(text, ':', "a header; write NAME: VALUE"));
            Transport::Http {
                url,
                headers: headers.collect::<Result<_, _>>()?,
                oauth: OAuthClient::default(),
            }
        }
        (None, Some((command, args))) => Transport::Stdio {
            command: command.clone(),
            args: args.to_vec(),
            env: env
                .iter()
                .map(|text| pair(text, '=', "a variable; write NAME=VALUE"))
                .collect::<Result<_, _>>()?,
            cwd: cwd.map(|cwd| cwd.to_string_lossy().into_owned()),
        },
        (None, None) => return Err(refused("name a command, or a URL with --url".to_owned())),
    };
    let effects = effects.iter().map(|text| {
        let (tool, declared) = pair(text, '=', "the effects of a tool; write TOOL=read_only")?;
        Ok((
            tool,
            serde_json::from_str(&declared).unwrap_or(Value::String(declared)),
        ))
    });
    let effects = effects.collect::<Result<Vec<(String, Value)>, Error>>()?;
    let mut inventory = if project {
        Inventory::load_whole(&root)?
    } else {
        Inventory::load(&root)?
    };
    let (file, owner) = match project {
        true => (&mut inventory.project, FileOwner::Project),
        false => (&mut inventory.user, FileOwner::User),
    };
    let is_present = file.servers().any(|(found, _)| found == name);
    file.set(&server, &transport)?;
    if !effects.is_empty() || allow {
        file.decide(&server, effects, allow)?;
    }
    file.write(owner)?;
    let path = file.path().display();
    notice::note(&match is_present {
        true => format!("replaced the server {name} in {path}"),
        false => format!("{path} has the server {name}"),
    });
    let next = if project { "approve" } else { "test" };
    notice::hint(&format!("run {} mcp {next} {name}", program::name()));
    Ok(())
}

/// Removes a server, its approval, its variables, its pins and its login.
pub(super) fn remove(name: &str, is_of_project: bool, root: &RootOption) -> Result<(), Error> {
    let mut inventory = if is_of_project {
        Inventory::load_whole(root)?
    } else {
        Inventory::load(root)?
    };
    let owner = if is_of_project {
        FileOwner::Project
    } else {
        FileOwner::User
    };
    let configured = inventory
        .servers()
        .into_iter()
        .find(|(found, of, _)| found == name && *of == owner);
    if let Some((.., Ok(configured))) = configured {
        // Damaged pins are removed by hand, as the error says.
        let pins = inventory.pins(&configured)?;
        Arc::into_inner(pins).map(Pins::remove).transpose()?;
        inventory.remove_tokens(&configured)?;
    }
    if is_of_project {
        let workspace = inventory.workspace().to_owned();
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
        return Err(Error::NoServer {
            server: name.to_owned(),
        });
    }
    file.write(owner)?;
    notice::note(&format!(
        "removed the server {name} from {}",
        file.path().display()
    ));
    Ok(())
}
