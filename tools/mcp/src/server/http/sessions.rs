//! [`Sessions`]: the sessions of clients of older revisions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use futures_util::{Stream, StreamExt as _};
use http::HeaderMap;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcResponse, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tools::IgnorePoison as _;

use crate::server::batch;
use crate::server::http::options::HttpOptions;

/// The header with the id of a session.
const SESSION_ID: &str = "mcp-session-id";

/// The sessions of a listener, in a limited number. A new one takes the place of the one that has been idle for longest, as many clients
/// never end theirs. Its client begins another when it comes back.
#[derive(Default)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    uses: Mutex<HashMap<SessionId, Use>>,
    /// Held while a session begins, so that not two take the last place.
    begin: tokio::sync::Mutex<()>,
}

struct Use {
    /// False until a request other than the first, so that a client that only begins sessions ends its own.
    is_used: bool,
    last: Instant,
    /// True if the session's revision has batches.
    takes_batches: bool,
    /// Shared by the answers that are not ended.
    answers: Arc<()>,
}

/// The error of a session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("{} sessions are busy; try again later", HttpOptions::MAX_SESSIONS)]
    TooMany,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    /// Returns true if no further session can begin.
    pub(super) async fn is_full(&self) -> bool {
        self.local.sessions.read().await.len() >= HttpOptions::MAX_SESSIONS
            && self.find_idle().is_none()
    }

    /// Returns the session that has been idle for longest: one that was never used, if there is one.
    fn find_idle(&self) -> Option<SessionId> {
        let uses = self.lock_uses();
        let idle = uses
            .iter()
            .filter(|(_, session)| Arc::strong_count(&session.answers) == 1);
        idle.min_by_key(|(_, session)| (session.is_used, session.last))
            .map(|(id, _)| id.clone())
    }

    /// Returns true if the revision of the session that the headers name has batches.
    pub(super) fn takes_batches(&self, headers: &HeaderMap) -> bool {
        let id = headers.get(SESSION_ID).and_then(|id| id.to_str().ok());
        let uses = self.lock_uses();
        id.and_then(|id| uses.get(id))
            .is_some_and(|session| session.takes_batches)
    }

    fn lock_uses(&self) -> MutexGuard<'_, HashMap<SessionId, Use>> {
        self.uses.lock().ignore_poison()
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let _begin = self.begin.lock().await;
        while self.local.sessions.read().await.len() >= HttpOptions::MAX_SESSIONS {
            let idle = self.find_idle().ok_or(SessionError::TooMany)?;
            self.close_session(&idle).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        let session = Use {
            is_used: false,
            last: Instant::now(),
            takes_batches: false,
            answers: Arc::default(),
        };
        self.lock_uses().insert(id.clone(), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        let answer = self.local.initialize_session(id, message).await?;
        if let ServerJsonRpcMessage::Response(JsonRpcResponse {
            result: ServerResult::InitializeResult(result),
            ..
        }) = &answer
            && let Some(session) = self.lock_uses().get_mut(id)
        {
            session.takes_batches = result.protocol_version == batch::REVISION;
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.lock_uses().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        // The session is busy until the mark is dropped.
        let busy = self.lock_uses().get_mut(id).map(|session| {
            (session.is_used, session.last) = (true, Instant::now());
            session.answers.clone()
        });
        let answers = self.local.create_stream(id, message).await?;
        Ok(answers.inspect(move |_| {
            // The closure owns the mark.
            let _ = &busy;
        }))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
