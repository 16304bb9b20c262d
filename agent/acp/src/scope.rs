//! [`EditorScope`]: the session of an editor, as the program opens it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use agent::{RunObserver, SessionConsent};
use host::CommandError;
use host::sessions::SessionScope;
use host::settings::Settings;
use host::ungranted::Ungranted;
use serde_json::Value;
use tools::Host;
use tools::context::Exposure;

use crate::asker::EditorAsker;
use crate::board::Board;
use crate::person::EditorPerson;

/// The session of an editor, as the program opens it.
pub(crate) struct EditorScope {
    pub(crate) root: PathBuf,
    /// The id of the recorded session that goes on.
    pub(crate) recorded: Option<String>,
    pub(crate) board: Arc<Board>,
    pub(crate) observer: Arc<RunObserver>,
    pub(crate) exposure: Arc<Exposure>,
    /// The MCP servers of the editor.
    pub(crate) servers: Value,
    /// True if the editor shows forms.
    pub(crate) has_forms: bool,
}

impl SessionScope for EditorScope {
    fn settings(&self, settings: Settings, _has_provider: bool) -> Result<Settings, CommandError> {
        Ok(settings)
    }

    fn enter(&self, host: Host) -> Host {
        let mut services = host.services().clone();
        services.insert_shared(self.observer.clone());
        services.insert_shared(self.exposure.clone());
        let asker = EditorAsker::new(self.board.clone());
        let host = host.with_services(services);
        let host = host.with_approver(Arc::new(SessionConsent::new(asker)));
        if self.has_forms {
            host.with_person(Arc::new(EditorPerson::new(self.board.clone())))
        } else {
            host
        }
    }

    fn how_to_grant(&self, refused: &Ungranted<'_>) -> String {
        let flags = refused.consenting_flags(refused.needed);
        format!("to allow it, add {flags} to the arguments of the agent in the editor's settings")
    }

    fn has_tool(&self, name: &str) -> bool {
        self.has_forms || name != "user.ask"
    }

    fn root(&self) -> Option<PathBuf> {
        Some(self.root.clone())
    }

    fn recorded(&self) -> Option<String> {
        self.recorded.clone()
    }

    fn servers(&self) -> Option<Value> {
        Some(self.servers.clone())
    }

    fn is_attended(&self) -> bool {
        true
    }
}

impl fmt::Debug for EditorScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditorScope")
            .field("root", &self.root)
            .field("recorded", &self.recorded)
            .finish_non_exhaustive()
    }
}
