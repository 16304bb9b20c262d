//! The lock file: the definitions and their digests as JSON, with sorted keys and one value per line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use host::{own_path, program, shell};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tools::protocol::canonical_json;
use tools::{Digest, Tool, ToolName};

/// The usual lock file.
pub(crate) const USUAL: &str = "tools.lock";

/// The version of the format.
const VERSION: u64 = 1;

/// A lock file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("there is no lock file at {}; write it with {}", path.display(), command(path))]
    Missing { path: PathBuf },
    #[error("cannot read {}: {source}; check the path", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not a lock file: {source}; write it again with {}", path.display(), command(path))]
    Syntax {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{} has version {version}, and this program reads version {VERSION}; use the program that wrote it", path.display())]
    Version { path: PathBuf, version: u64 },
    #[error("{}: the definition of {tool} does not match its digest; write the file again with {}", path.display(), command(path))]
    Digest { path: PathBuf, tool: ToolName },
    #[error("cannot write {}: {source}; choose another place with --file", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Returns the command that writes the file.
pub(crate) fn command(path: &Path) -> String {
    let mut command = format!("{} lock", program::name());
    if path != Path::new(USUAL) {
        command += &format!(" --file {}", shell::quote(&path.to_string_lossy()));
    }
    command
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    version: u64,
    tools: BTreeMap<ToolName, Locked>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Locked {
    digest: Digest,
    /// The definition without its name.
    definition: Map<String, Value>,
}

/// Reads the definitions, sorted by name.
pub(crate) fn read(path: &Path) -> Result<Vec<Tool>, LockError> {
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => LockError::Missing {
            path: path.to_owned(),
        },
        _ => LockError::Read {
            path: path.to_owned(),
            source,
        },
    })?;
    let syntax = |source| LockError::Syntax {
        path: path.to_owned(),
        source,
    };
    let document: Value = serde_json::from_str(&text).map_err(syntax)?;
    if let Some(version) = document["version"].as_u64()
        && version != VERSION
    {
        let path = path.to_owned();
        return Err(LockError::Version { path, version });
    }
    let file: LockFile = serde_json::from_value(document).map_err(syntax)?;
    let mut tools = Vec::new();
    for (name, mut locked) in file.tools {
        let definition = &mut locked.definition;
        definition.insert("name".to_owned(), name.as_str().into());
        let tool: Tool = serde_json::from_value(locked.definition.into()).map_err(syntax)?;
        if tool.digest() != locked.digest {
            let path = path.to_owned();
            return Err(LockError::Digest { path, tool: name });
        }
        tools.push(tool);
    }
    Ok(tools)
}

/// Writes the definitions.
pub(crate) fn write(path: &Path, tools: &[Tool]) -> Result<(), LockError> {
    let refused = |source| LockError::Write {
        path: path.to_owned(),
        source,
    };
    let tools = tools.iter().map(lock).collect::<Result<_, _>>();
    let tools = tools.map_err(|error| refused(error.into()))?;
    let file = LockFile {
        version: VERSION,
        tools,
    };
    let text = serde_json::to_string_pretty(&file).map_err(|error| refused(error.into()))?;
    own_path::write(path, text + "\n").map_err(refused)
}

fn lock(tool: &Tool) -> Result<(ToolName, Locked), serde_json::Error> {
    // The text of canonical JSON has sorted keys, which the map keeps.
    let text = canonical_json(&serde_json::to_value(tool)?);
    let mut definition: Map<String, Value> = serde_json::from_str(&text)?;
    definition.retain(|key, _| key != "name");
    let digest = tool.digest();
    Ok((tool.name.clone(), Locked { digest, definition }))
}
