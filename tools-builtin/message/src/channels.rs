//! [`Channels`]: the service of `message.send`.

use std::collections::BTreeMap;
use std::sync::Arc;

use tools::{Access, Target, ToolError, ToolErrorKind};
use tools_http::{HttpClient, net_host};

use crate::channel_settings::Channel;
use crate::error::ChannelError;

/// The name that stands for the conversation's own channel and chat.
pub const REPLY: &str = "reply";

/// The channels of the user, by name. A host puts them into the services of a context.
///
/// ```
/// use tools::Host;
/// use tools_http::HttpClient;
/// use tools_message::{ChannelSettings, Channels};
///
/// let settings = ChannelSettings::new().with_text("path", "/home/ada/messages.jsonl");
/// let file = (tools_message::kind("file")?.create)(&settings)?;
/// let channels = Channels::new().with_channel("log", file, HttpClient::default())?;
/// let cx = Host::new().with_service(channels);
/// # let _ = cx;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Channels {
    by_name: BTreeMap<String, Place>,
}

#[derive(Clone, Debug)]
enum Place {
    Ready(Arc<dyn Channel>, HttpClient),
    /// The reason that the channel cannot be used, with the next step.
    Absent(String),
}

impl Channels {
    /// Creates a service without channels.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a channel, and replaces one of the same name. It sends with this client, whose private hosts are for the channel alone.
    ///
    /// # Errors
    /// Returns [`ChannelError::Name`] if the name has other characters than letters, digits, `-`, `_` and `.`, or is [`REPLY`].
    pub fn with_channel(
        mut self,
        name: impl Into<String>,
        channel: Arc<dyn Channel>,
        client: HttpClient,
    ) -> Result<Self, ChannelError> {
        self.by_name.insert(
            Self::check_name(name.into())?,
            Place::Ready(channel, client),
        );
        Ok(self)
    }

    /// Adds a channel that cannot be used, with the reason and the next step.
    ///
    /// # Errors
    /// As [`with_channel`](Self::with_channel).
    pub fn with_absent(
        mut self,
        name: impl Into<String>,
        reason: impl Into<String>,
    ) -> Result<Self, ChannelError> {
        self.by_name
            .insert(Self::check_name(name.into())?, Place::Absent(reason.into()));
        Ok(self)
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the channel of a name and its client.
    ///
    /// # Errors
    /// Returns an error with the next step if there is none, or it cannot be used.
    pub fn get(&self, name: &str) -> Result<(&dyn Channel, &HttpClient), ToolError> {
        match self.by_name.get(name) {
            Some(Place::Ready(channel, client)) => Ok((&**channel, client)),
            Some(Place::Absent(reason)) => Err(ToolErrorKind::unavailable(format!(
                "the channel {name} cannot be used: {reason}"
            ))
            .into()),
            None => {
                let near = ToolError::near(name, self.names());
                let near = ToolError::did_you_mean(&near)
                    .map(|near| format!(" ({near})"))
                    .unwrap_or_default();
                Err(ToolError::execution_failed(format!(
                    "there is no channel {name:?}{near}; {}",
                    self.suggest_channel()
                )))
            }
        }
    }

    /// Returns the target of the host that a channel connects to. Returns `None` if it connects to none.
    pub fn target(channel: &dyn Channel) -> Option<Target> {
        Target::new(Access::Write, "net", net_host(channel.server()?)).ok()
    }

    /// Returns the next step for a call without a usable channel.
    pub(crate) fn suggest_channel(&self) -> String {
        if self.by_name.is_empty() {
            "the user has no channels; tell the user".to_owned()
        } else {
            format!(
                "use one of: {}",
                self.names().collect::<Vec<_>>().join(", ")
            )
        }
    }

    fn check_name(name: String) -> Result<String, ChannelError> {
        let is_name = (1..=64).contains(&name.len())
            && !name.starts_with('.')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if is_name && name != REPLY {
            Ok(name)
        } else {
            Err(ChannelError::Name { name })
        }
    }
}
