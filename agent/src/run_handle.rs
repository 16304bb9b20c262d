//! [`RunHandle`]: sends messages to a run, and cancels it.

use std::sync::{Arc, Mutex, MutexGuard};

use tools::{CancellationToken, IgnorePoison as _};

use crate::prompt::Prompt;

/// Sends messages to the run of a [`Driver`](crate::Driver), and cancels it. Clones are handles of the same run.
///
/// A message enters the conversation after the calls that run by then, before the next request. If the model has written its answer
/// instead, the run goes on with the message. Give the handle to one driver, which runs one session at a time.
///
/// ```
/// use std::sync::Arc;
/// use agent::{Driver, RunHandle, Scripted, Selection, Session};
/// use tools::Host;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let handle = RunHandle::new();
/// handle.send("And in French?").unwrap();
/// let driver = Driver::new(Arc::new(Scripted::from_json(r#"[{"text": "Good night. Bonne nuit."}]"#)?)).with_handle(handle.clone());
/// let mut session = Session::new([], Selection::new(), Host::new());
/// driver.run(&mut session, "Say good night.").await?;
/// assert_eq!(session.messages()[1].to_text(), "And in French?");
/// assert!(handle.send("Too late.").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunHandle {
    token: CancellationToken,
    messages: Arc<Mutex<Messages>>,
}

#[derive(Debug, Default)]
struct Messages {
    waiting: Vec<Prompt>,
    /// True if no run will take a message.
    is_closed: bool,
}

/// The time in which a run takes messages, until it is dropped.
pub(crate) struct OpenRun<'a>(&'a RunHandle);

impl RunHandle {
    /// Creates the handle of the next run of a driver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the token that cancels the run.
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Sends a message, which waits for the next request.
    ///
    /// # Errors
    /// Returns the message if the run has ended.
    pub fn send(&self, message: impl Into<Prompt>) -> Result<(), Prompt> {
        let message = message.into();
        let mut messages = self.lock();
        if messages.is_closed {
            return Err(message);
        }
        messages.waiting.push(message);
        Ok(())
    }

    /// Takes back the messages that have not entered the conversation. A run that is cancelled, fails, meets a limit or waits for an
    /// approval leaves them.
    pub fn take_waiting(&self) -> Vec<Prompt> {
        std::mem::take(&mut self.lock().waiting)
    }

    /// Cancels the run, and later runs of the driver.
    pub fn cancel(&self) {
        self.token.cancel();
    }

    /// Returns true if both are handles of the same run.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.messages, &other.messages)
    }

    /// Lets a run take messages.
    pub(crate) fn open(&self) -> OpenRun<'_> {
        self.lock().is_closed = false;
        OpenRun(self)
    }

    /// Returns true if messages wait. If none does, a run that closes takes none from now on.
    pub(crate) fn has_waiting(&self, closes: bool) -> bool {
        let mut messages = self.lock();
        messages.is_closed = closes && messages.waiting.is_empty();
        !messages.waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().ignore_poison()
    }
}

impl From<CancellationToken> for RunHandle {
    /// Creates a handle whose run this token cancels too.
    fn from(token: CancellationToken) -> Self {
        Self {
            token,
            ..Self::default()
        }
    }
}

impl Drop for OpenRun<'_> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
    }
}
