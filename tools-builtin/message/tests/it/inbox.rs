//! An inbox that keeps what it takes.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use tools::CancellationToken;
use tools_message::{Channel, ChannelSettings, Inbox, ListenError, NotTaken};

/// A channel that listens. Dropping it stops it.
pub(crate) struct Listening {
    taken: Arc<Mutex<Vec<(String, String)>>>,
    notes: Arc<Mutex<Vec<String>>>,
    shutdown: CancellationToken,
    task: Option<JoinHandle<Result<(), ListenError>>>,
}

impl Listening {
    /// Starts to listen. The inbox takes at most this many messages.
    pub(crate) fn start(
        kind: &str,
        settings: &ChannelSettings,
        folder: &Path,
        most: usize,
    ) -> Self {
        let channel: Arc<dyn Channel> =
            (tools_message::kind(kind).unwrap().create)(settings).unwrap();
        let (taken, notes) = (
            Arc::<Mutex<Vec<_>>>::default(),
            Arc::<Mutex<Vec<String>>>::default(),
        );
        let (of_inbox, of_notes, shutdown) =
            (taken.clone(), notes.clone(), CancellationToken::new());
        let inbox = Inbox::new(folder, shutdown.clone(), move |message, claim| {
            let mut taken = of_inbox.lock().unwrap();
            if taken.len() >= most {
                return Err(NotTaken::Full);
            }
            claim().unwrap();
            taken.push((message.chat().to_owned(), message.text().to_owned()));
            Ok(())
        });
        let inbox = inbox.with_notes(move |note| of_notes.lock().unwrap().push(note.to_owned()));
        let task = tokio::spawn(async move { channel.listen(inbox).unwrap().await });
        Self {
            taken,
            notes,
            shutdown,
            task: Some(task),
        }
    }

    /// Returns the chats and texts so far.
    pub(crate) fn taken(&self) -> Vec<(String, String)> {
        self.taken.lock().unwrap().clone()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }

    /// Waits until a value is there.
    pub(crate) async fn until<T>(&self, find: impl Fn(&Self) -> Option<T>) -> T {
        loop {
            if let Some(found) = find(self) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until this many messages were taken, and returns their texts.
    pub(crate) async fn texts(&self, count: usize) -> Vec<String> {
        self.until(|listening| (listening.taken().len() >= count).then_some(()))
            .await;
        self.taken().into_iter().map(|(_, text)| text).collect()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.task.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Ends the listener.
    pub(crate) async fn end(mut self) -> Result<(), ListenError> {
        self.shutdown.cancel();
        self.task.take().unwrap().await.unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
