//! [`Unanswered`]: a limit of the requests that a server makes before it reads the answers.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::RoleClient;
use rmcp::model::{GetExtensions as _, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;

/// The number of requests of a server without an answer, from which on its messages are not read.
const MAX_UNANSWERED: usize = 64;

/// A transport that counts the requests of the server without an answer. `rmcp` takes any number, and keeps the answers until they can be
/// written.
pub(crate) struct Unanswered<T> {
    pub(super) transport: T,
    pub(super) count: Arc<Count>,
    /// True if nothing is received while there are too many, because the streams do not wait themselves.
    pub(super) waits: bool,
}

/// The number of requests without an answer.
#[derive(Default)]
pub(super) struct Count {
    unanswered: AtomicUsize,
    answered: Notify,
}

/// A request that is answered, or an answer that is written. Counts until it is dropped.
struct Counted(Arc<Count>);

impl Counted {
    fn new(count: &Arc<Count>) -> Self {
        count.unanswered.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.unanswered.fetch_sub(1, Ordering::SeqCst);
        self.0.answered.notify_waiters();
    }
}

impl Count {
    /// Waits until few enough requests are unanswered.
    pub(super) async fn room(&self) {
        loop {
            // Before the look, so that no answer in between is missed.
            let mut answered = pin!(self.answered.notified());
            answered.as_mut().enable();
            if self.unanswered.load(Ordering::SeqCst) < MAX_UNANSWERED {
                return;
            }
            answered.await;
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Unanswered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_answer = matches!(item, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let counted = is_answer.then(|| Counted::new(&self.count));
        let sending = self.transport.send(item);
        async move {
            let sent = sending.await;
            drop(counted);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.waits {
            self.count.room().await;
        }
        let mut message = self.transport.receive().await;
        if let Some(JsonRpcMessage::Request(request)) = &mut message {
            // The context of the request has it, so it lives as long as the handler.
            request
                .request
                .extensions_mut()
                .insert(Arc::new(Counted::new(&self.count)));
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
