//! [`server_subject`]: the facts about a project's server that the user approves.

use std::path::Path;

use host::trust::Subject;
use serde_json::{Map, Value, json};

use crate::client::ServerName;
use crate::config::{ServerEntry, Transport};
use crate::trust::executable::Executable;

/// Returns the facts about a project's server that the user approves: the command, its resolved executable, arguments, environment and
/// working directory, or the URL and headers. Values are as the file has them, so variables are not expanded.
///
/// The workspace is the absolute path of its root. A server without an executable has `None`. `folder` is the working directory with all
/// links resolved; it is a part of the subject if the entry names one.
pub fn server_subject(
    workspace: &str,
    server: &ServerName,
    entry: &ServerEntry,
    executable: Option<&Executable>,
    folder: Option<&Path>,
) -> Subject {
    let facts = match &entry.transport {
        Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } => json!({
            "command": command,
            "executable": executable.map(ToString::to_string),
            "args": args,
            "env": env,
            "cwd": cwd.as_ref().map(|cwd| match folder {
                Some(folder) if folder != Path::new(cwd) => json!([cwd, folder.to_string_lossy()]),
                _ => json!(cwd),
            }),
        }),
        Transport::Http {
            url,
            headers,
            oauth,
        } => {
            json!({"url": url, "headers": headers, "oauth": oauth.to_json()})
        }
    };
    let facts = match facts {
        Value::Object(facts) => facts
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect(),
        _ => Map::new(),
    };
    Subject::from_facts(workspace, &server.to_string(), facts)
}
