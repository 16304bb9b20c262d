//! [`Channel`]: a place that messages go to and come from.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tools_http::Url;

use crate::{Delivery, Inbox, ListenFuture, SendError};

/// The future of a [`Channel`] that sends a message.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// A place that messages go to, such as a file, a webhook or a mailbox. A [`ChannelKind`](crate::ChannelKind) creates it from the
/// settings of the user.
pub trait Channel: Send + Sync + fmt::Debug {
    /// Returns a URL with the scheme `http` or `https` and the host and port that messages are sent to. Returns `None` if sending opens
    /// no connection.
    fn server(&self) -> Option<&Url> {
        None
    }

    /// Returns the recipients that a call may choose from. Without a choice, all get the message. A channel without recipients has one
    /// fixed place.
    fn recipients(&self) -> &[String] {
        &[]
    }

    /// Sends a message at most once.
    ///
    /// - Returns [`SendError::NotSent`] only if the message certainly did not arrive.
    /// - Returns [`SendError::Unclear`] if it may have arrived, such as after a connection that broke before the answer.
    ///
    /// An error has no text of the server, which the model would read as if it were the program's; a channel that needs it calls
    /// [`ToolContext::record_exposure`](tools::ToolContext::record_exposure) first.
    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a>;

    /// Takes messages from outside until the shutdown of the inbox, or until there are no more. Returns `None` if the channel has none.
    fn listen(&self, inbox: Inbox) -> Option<ListenFuture<'_>> {
        let _ = inbox;
        None
    }
}
