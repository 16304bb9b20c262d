//! [`server_subject`]: the facts about a project's server that the user approves.

use std::path::Path;

use host::trust::Subject;
use serde_json::json;

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
    let mut facts = entry.transport.to_fields();
    if let Transport::Stdio { cwd, .. } = &entry.transport {
        let executable = executable.map(ToString::to_string);
        facts.insert("executable".to_owned(), json!(executable));
        if let (Some(cwd), Some(folder)) = (cwd, folder)
            && folder != Path::new(cwd)
        {
            let folders = json!([cwd, folder.to_string_lossy()]);
            facts.insert("cwd".to_owned(), folders);
        }
    }
    facts.retain(|_, value| !value.is_null());
    Subject::from_facts(workspace, &server.to_string(), facts)
}
