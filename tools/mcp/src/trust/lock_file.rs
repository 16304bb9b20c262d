//! The file `mcp.lock` of [`Pins`](super::pins::Pins).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host::trust::TrustError;
use serde::{Deserialize, Serialize};
use tools::{Digest, ToolName};

use crate::client::{ServerName, ServerTool};
use crate::private_file;

/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The version of the format.
const VERSION: u64 = 1;

/// The pinned definitions.
pub(super) type Pinned = BTreeMap<ToolName, Pin>;

/// The definitions of a tool that the user approved.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    pub(super) digest: Digest,
    pub(super) definition: ServerTool,
    /// The digests of the other definitions that the user approved.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) others: BTreeSet<Digest>,
}

/// The file of pins.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile<'a> {
    version: u64,
    server: String,
    tools: Cow<'a, Pinned>,
}

impl Pin {
    pub(super) fn new(definition: ServerTool) -> Self {
        Self {
            digest: definition.digest(),
            definition,
            others: BTreeSet::new(),
        }
    }

    /// Returns true if the user approved the definition with this digest.
    pub(super) fn permits(&self, digest: &Digest) -> bool {
        self.digest == *digest || self.others.contains(digest)
    }
}

/// Reads the file. Returns `None` if there is none.
///
/// # Errors
/// Returns an error if it cannot be read, or is damaged.
pub(super) fn read(path: &Path, server: &ServerName) -> Result<Option<Pinned>, TrustError> {
    let text = private_file::read(path, MAX_BYTES);
    let text = text.map_err(|source| TrustError::Read {
        path: path.to_owned(),
        source,
    })?;
    let Some(text) = text else { return Ok(None) };
    let damaged = |reason| TrustError::Damaged {
        path: path.to_owned(),
        reason,
    };
    let file: LockFile<'_> =
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if file.version != VERSION || file.server != server.as_str() {
        return Err(damaged(format!(
            "it is version {} for the server {:?}",
            file.version, file.server
        )));
    }
    let mut tools = file.tools.iter();
    match tools.find(|(_, pin)| pin.definition.digest() != pin.digest) {
        Some((name, _)) => Err(damaged(format!("{name} has another digest"))),
        None => Ok(Some(file.tools.into_owned())),
    }
}

/// Returns the content of the file.
pub(super) fn text(server: &ServerName, pinned: &Pinned) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&LockFile {
        version: VERSION,
        server: server.to_string(),
        tools: Cow::Borrowed(pinned),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_from_the_file_is_hashed_once() {
        let server = ServerName::new("s").unwrap();
        let definition = json!({"name": "a", "inputSchema": {"type": "object"}});
        let pin = Pin::new(ServerTool::from_json(definition).unwrap());
        let pinned = Pinned::from([(server.tool_name("a", 1).unwrap(), pin)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.lock");
        private_file::create(&path, &text(&server, &pinned).unwrap()).unwrap();
        let read = read(&path, &server).unwrap().unwrap();
        assert!(read == pinned);
        let mut pins = read.into_values();
        assert!(pins.all(|pin| pin.definition.clone().digest.get() == Some(&pin.digest)));
    }
}
