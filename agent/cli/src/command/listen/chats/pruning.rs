//! Removes the journals of chats that the settings do not keep.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::chat_session::say;
use super::super::folder::ChannelFolder;
use super::super::waiting::{ChatKey, WaitingMessages};
use super::Chats;
use crate::notice;

impl Chats {
    /// Removes the journal of a chat if it is too large. Removes other ones if the chat begins a new one.
    pub(super) async fn make_room(&self, key: &ChatKey, folder: &Arc<ChannelFolder>) {
        let is_new = self.is_recorded
            && ChannelFolder::remove_full(&folder.journal(&key.1), &self.retention).unwrap_or_else(
                |error| {
                    say(
                        key,
                        &format!(
                            "the journal of the chat is too large, and cannot be removed: {error}"
                        ),
                    );
                    false
                },
            );
        if is_new {
            self.prune(&key.0, folder).await;
        }
    }

    /// Removes the journals of a channel that the settings do not keep, except those of chats with a task. Without records, removes none.
    ///
    /// The folder may have many journals, so no lock is held while it is read: messages come in meanwhile.
    pub(in super::super) async fn prune(&self, channel: &str, folder: &Arc<ChannelFolder>) {
        if !self.is_recorded {
            return;
        }
        let (reader, retention) = (folder.clone(), self.retention.clone());
        let before = in_use(&self.waiting(), channel, folder);
        let read = tokio::task::spawn_blocking(move || reader.surplus(&retention, &before)).await;
        let removed = read.unwrap_or_else(|_| Ok(Vec::new())).and_then(|surplus| {
            surplus.iter().try_for_each(|journal| {
                // Held so that no chat opens its journal meanwhile.
                let waiting = self.waiting();
                match in_use(&waiting, channel, folder).contains(&journal.id) {
                    true => Ok(()),
                    false => ChannelFolder::remove_unchanged(journal),
                }
            })
        });
        if let Err(error) = removed {
            notice::warning(&format!(
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
    use std::fs::File;
    use std::sync::mpsc;
    use std::time::SystemTime;

    use clap::Parser;
    use tokio::runtime::Builder;
    use tools::CancellationToken;
    use tools_builtin::message::IncomingMessage;

    use super::*;
    use crate::config::Settings;
    use crate::session::UnattendedOptions;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        options: UnattendedOptions,
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
        let options = Program::parse_from(["program"]).options;
        let chats = Chats::new(options, &Settings::default(), 0, CancellationToken::new());
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
