//! [`Sessions`]: the sessions of clients of older revisions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use super::HttpOptions;

/// The sessions of a listener, in a limited number. A further one ends the idle one that was used least recently.
#[derive(Default)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    uses: Mutex<HashMap<SessionId, Use>>,
    /// Held while a session begins, so that not two take the last place.
    begin: tokio::sync::Mutex<()>,
}

/// The use of a session.
struct Use {
    last: Instant,
    /// Each open stream has a clone.
    streams: Arc<()>,
}

/// The error of a session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("each session has an open stream; close one, or end a session with DELETE, and try again")]
    TooMany,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    /// Returns true if no further session can begin without the end of another.
    pub(super) async fn is_full(&self) -> bool {
        self.local.sessions.read().await.len() >= HttpOptions::MAX_SESSIONS
    }

    /// Returns the session without an open stream that was used least recently.
    async fn idle(&self) -> Option<SessionId> {
        let sessions = self.local.sessions.read().await;
        let mut uses = self.uses();
        uses.retain(|id, _| sessions.contains_key(id));
        let idle = uses.iter().filter(|(_, used)| Arc::strong_count(&used.streams) == 1);
        idle.min_by_key(|(_, used)| used.last).map(|(id, _)| id.clone())
    }

    /// Records that the session is used, and returns the token of a stream.
    fn record_use(&self, id: &SessionId) -> Arc<()> {
        let mut uses = self.uses();
        let used = uses.entry(id.clone()).or_insert_with(|| Use { last: Instant::now(), streams: Arc::default() });
        used.last = Instant::now();
        used.streams.clone()
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<SessionId, Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the stream, which holds the token as long as it is open.
fn held<S>(stream: S, token: Arc<()>) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static
where
    S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
{
    stream.map(move |message| {
        let _ = &token;
        message
    })
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let _begin = self.begin.lock().await;
        if self.is_full().await {
            let idle = self.idle().await.ok_or(SessionError::TooMany)?;
            self.local.close_session(&idle).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        self.record_use(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let token = self.record_use(id);
        Ok(held(self.local.create_stream(id, message).await?, token))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        self.record_use(id);
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let token = self.record_use(id);
        Ok(held(self.local.create_standalone_stream(id).await?, token))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let token = self.record_use(id);
        Ok(held(self.local.resume(id, last_event_id).await?, token))
    }
}
