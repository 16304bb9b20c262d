//! Removes the journals of chats that the settings do not keep.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use host::program;

use super::super::chat_session::say;
use super::super::folder::ChannelFolder;
use super::super::waiting::{ChatKey, WaitingMessages};
use super::Chats;

impl Chats {
    /// Removes the journal of a chat if it is too large. Removes other ones if the chat begins a new one.
    pub(super) async fn make_room(&self, key: &ChatKey, folder: &Arc<ChannelFolder>) {
        let Some(retention) = &self.retention else {
            return;
        };
        match ChannelFolder::remove_full(&folder.journal(&key.1), retention) {
            Ok(true) => self.prune(&key.0, folder).await,
            Ok(false) => {}
            Err(error) => say(
                key,
                &format!("the journal of the chat is too large, and cannot be removed: {error}"),
            ),
        }
    }

    /// Removes the journals of a channel that the settings do not keep, except those of chats with a task. Without records, removes none.
    ///
    /// The folder may have many journals, so no lock is held while it is read: messages come in meanwhile.
    pub(in super::super) async fn prune(&self, channel: &str, folder: &Arc<ChannelFolder>) {
        let Some(retention) = self.retention.clone() else {
            return;
        };
        let reader = folder.clone();
        let before = in_use(&self.waiting(), channel, folder);
        let read = tokio::task::spawn_blocking(move || reader.surplus(&retention, &before)).await;
        let removed = read.unwrap_or_else(|_| Ok(Vec::new())).and_then(|surplus| {
            surplus.iter().try_for_each(|journal| {
                // Held so that no chat opens its journal meanwhile.
                let waiting = self.waiting();
                if in_use(&waiting, channel, folder).contains(&journal.id) {
                    Ok(())
                } else {
                    ChannelFolder::remove_unchanged(journal)
                }
            })
        });
        if let Err(error) = removed {
            program::warn(&format!(
                "{channel}: old sessions of chats are kept: {error}"
            ));
        }
    }
}

/// Returns the journals of the chats of a channel with a task.
fn in_use(waiting: &WaitingMessages, channel: &str, folder: &ChannelFolder) -> HashSet<PathBuf> {
    waiting
        .chats()
        .filter(|(name, _)| name == channel)
        .map(|key| folder.journal(&key.1))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::fs::File;
    use std::sync::mpsc;
    use std::time::{Duration, SystemTime};

    use host::sessions::{CommandSession, RecordedSession, SessionFuture, SessionScope, Sessions};
    use host::settings::Settings;
    use host::{CommandError, Exit, Retention};
    use tokio::runtime::Builder;
    use tools::CancellationToken;

    use super::*;
    use crate::incoming::IncomingMessage;

    /// Sessions that cannot be opened.
    struct NoSessions;

    impl NoSessions {
        fn fail<'a, T: 'a + Send>() -> SessionFuture<'a, T> {
            Box::pin(async { Err(CommandError::new(Exit::Internal, "no sessions")) })
        }
    }

    impl Sessions for NoSessions {
        fn settings(&self, _scope: Option<Arc<dyn SessionScope>>) -> SessionFuture<'_, Settings> {
            Self::fail()
        }

        fn has_provider(&self, _settings: &Settings) -> bool {
            false
        }

        fn check_model(&self, _settings: &Settings) -> Result<(), CommandError> {
            Ok(())
        }

        fn retention(&self, _settings: &Settings) -> Option<Retention> {
            None
        }

        fn share<'a>(
            &'a self,
            _settings: &'a Settings,
            _cancellation: &'a CancellationToken,
        ) -> SessionFuture<'a, Box<dyn Any + Send>> {
            Self::fail()
        }

        fn list(&self, _workspace: Option<String>) -> SessionFuture<'_, Vec<RecordedSession>> {
            Self::fail()
        }

        fn find(&self, _id: String) -> SessionFuture<'_, Option<RecordedSession>> {
            Self::fail()
        }

        fn open(
            &self,
            _scope: Arc<dyn SessionScope>,
            _cancellation: CancellationToken,
        ) -> SessionFuture<'_, Box<dyn CommandSession>> {
            Self::fail()
        }
    }

    #[test]
    fn a_chat_that_gets_a_message_while_the_folder_is_read_keeps_its_journal() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Arc::new(ChannelFolder::in_folder(dir.path()));
        let journals = ["idle", "busy"].map(|chat| folder.journal(chat));
        for journal in &journals {
            File::create(journal)
                .unwrap()
                .set_modified(SystemTime::UNIX_EPOCH)
                .unwrap();
        }
        // No session may run, so that the journal does not change.
        let retention = Retention {
            max_age: Duration::from_secs(3600),
            max_bytes: u64::MAX,
            keep: 0,
        };
        let shutdown = CancellationToken::new();
        let chats = Chats::new(Arc::new(NoSessions), Some(retention), 0, shutdown);
        let message = IncomingMessage::new("busy", "hello").unwrap();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        runtime.block_on(async {
            // The only thread that can read the folder is taken until the message is there.
            let (release, released) = mpsc::channel();
            let _taken_thread = tokio::task::spawn_blocking(move || released.recv());
            let arrival = async {
                let taken = chats.take("box", &folder, message, &mut || Ok(()));
                release.send(()).unwrap();
                taken
            };
            // The first of them has read which chats are in use when the second one runs.
            let ((), taken) = tokio::join!(chats.prune("box", &folder), arrival);
            taken.unwrap();
        });
        assert_eq!(journals.map(|journal| journal.exists()), [false, true]);
    }
}
