//! [`ChatScope`]: the marks of the session of a chat.

use std::path::PathBuf;

use host::sessions::SessionScope;
use host::settings::Settings;
use host::ungranted::Ungranted;
use host::{CommandError, shell};
use tools::Host;

use crate::settings::channels::with_replies;

/// The marks of the session of a chat. The process has one set of servers for all its chats.
#[derive(Clone, Debug)]
pub(super) struct ChatScope {
    pub(super) channel: String,
    /// The id on the channel.
    pub(super) id: String,
    /// The principal, which no chat of another channel has.
    pub(super) principal: String,
    /// The journal.
    pub(super) file: PathBuf,
    /// False if the session is in memory alone.
    pub(super) is_recorded: bool,
}

impl SessionScope for ChatScope {
    fn settings(&self, settings: Settings, _has_provider: bool) -> Result<Settings, CommandError> {
        Ok(with_replies(settings))
    }

    fn enter(&self, host: Host) -> Host {
        host.with_channel(&*self.channel)
            .with_chat(&*self.id)
            .with_principal(&*self.principal)
    }

    fn how_to_grant(&self, refused: &Ungranted<'_>) -> String {
        if !refused.is_beyond(refused.needed) {
            return format!(
                "to allow it, add {} to `listen`",
                refused.consenting_flags(refused.needed)
            );
        }
        let flags = match refused.missing {
            [] => String::new(),
            missing => format!(" with {}", refused.consenting_flags(missing)),
        };
        // The pattern has the files that SQLite creates beside the journal.
        let journal = shell::quoted(&self.file.to_string_lossy()).into_owned();
        format!(
            "the session keeps to the grant that it began with; to allow it, end `listen`, forget the chat with `rm {journal}*`, and start \
             `listen` again{flags}"
        )
    }

    fn journal(&self) -> Option<(PathBuf, String)> {
        let stem = self.file.file_stem().unwrap_or_default();
        let name = format!("{}/{}", self.channel, stem.display());
        self.is_recorded.then(|| (self.file.clone(), name))
    }

    fn is_shared(&self) -> bool {
        true
    }
}
