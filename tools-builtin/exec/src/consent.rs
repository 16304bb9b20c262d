//! [`Consent`]: the answers of the person at the host where Landlock alone cannot enforce the grant, or where it opens the home.

use tools::call::AskError;
use tools::question::{AnswerKind, InvalidQuestion};
use tools::{Answer, Question, ToolContext, ToolError, ToolErrorKind};
use tools_workspace::Workspace;

use crate::network;
use crate::report::shorten;
use crate::request::Request;
use crate::sandbox::Granted;

/// The note of a run that could not write.
const READ_ONLY: &str = "without bubblewrap the workspace was read-only; install it so that programs can write, or ask the user to agree";

/// The note of a run that could not write the home of the user.
const HOME_READ_ONLY: &str = "the workspace was read-only, because it has the user's home or settings, where shells run files; ask the \
                              user to agree, or to start the session in the folder that it works in";

/// The note of a run without the network that the grant names.
const NO_NETWORK: &str = "the program had no network, because without bubblewrap it would reach every host; install it, or ask the \
                          user to agree";

/// The note of a run with the network of the machine.
const WHOLE_NETWORK: &str = "the program had the whole network, as the user agreed; the hosts that it reached are not known";

/// The note of a run about which nobody was asked, because the question would not show all of it.
const TOO_LONG: &str = "the user was not asked, because the command with its variables and its input is too long for a question; put the \
                        long part into a file of the workspace";

/// The decisions about one program where bubblewrap is missing: Landlock cannot take a path back out of a writable tree, and does not
/// know hosts. Or about one that may write the home of the user.
#[derive(Default)]
pub(crate) struct Consent {
    /// True if the program may write the granted files, also those that run programs.
    pub(crate) may_write: bool,
    /// True if the program may reach every host.
    pub(crate) has_network: bool,
    /// Notes for the model on the answers.
    pub(crate) notes: Vec<String>,
}

impl Consent {
    /// Asks the person at the host about a program that may write the home. Without a person, the answer is no.
    ///
    /// # Errors
    /// Returns an error if the call was cancelled.
    pub(crate) async fn ask_about_home(
        cx: &ToolContext,
        request: &Request,
    ) -> Result<Self, ToolError> {
        let mut consent = Self::default();
        let text = format!(
            "May this program write your home or a folder of your settings? Shells and tools run files there, of which a changed one is not \
             found. Without a yes, it reads only.\n{}",
            request.describe()?
        );
        consent.may_write = consent.agrees(cx, text).await?;
        let note = (!consent.may_write).then(|| HOME_READ_ONLY.to_owned());
        consent.notes.extend(note);
        Ok(consent)
    }

    /// Asks the person at the host, once for writing and once for the network, as far as the grant covers them. Without a person, the
    /// answer is no.
    ///
    /// # Errors
    /// Returns an error if the call was cancelled.
    pub(crate) async fn ask(
        cx: &ToolContext,
        workspace: &Workspace,
        request: &Request,
    ) -> Result<Self, ToolError> {
        let described = request.describe()?;
        let mut consent = Self::default();
        if Granted::from_context(cx).has_writable(workspace) {
            let text = format!(
                "May this program write the granted files of the workspace? Without bubblewrap, nothing keeps it from files that run or \
                 configure programs, such as git hooks. Without a yes, it reads only.\n{described}"
            );
            consent.may_write = consent.agrees(cx, text).await?;
            consent
                .notes
                .extend((!consent.may_write).then(|| READ_ONLY.to_owned()));
        }
        match network::wanted_hosts(cx) {
            Ok(hosts) if hosts.is_empty() => {}
            Ok(hosts) => {
                let text = format!(
                    "May this program reach every host, the local network and the services of this machine, and send to them? The \
                     grant names only {}, but without bubblewrap nothing keeps it from others. Without a yes, it has no \
                     network.\n{described}",
                    shorten(&hosts)
                );
                consent.has_network = consent.agrees(cx, text).await?;
                let note = if consent.has_network {
                    WHOLE_NETWORK
                } else {
                    NO_NETWORK
                };
                consent.notes.push(note.to_owned());
            }
            Err(reason) => consent
                .notes
                .push(format!("the program had no network, because {reason}")),
        }
        Ok(consent)
    }
    /// Adds a note, once for both questions.
    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|present| present == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// Returns true if the person says yes. A question that would show only a part of the command is not asked.
    async fn agrees(&mut self, cx: &ToolContext, text: String) -> Result<bool, ToolError> {
        let question = match Question::new(text, AnswerKind::Confirmation) {
            Ok(question) => question,
            Err(InvalidQuestion::TooLong { .. }) => {
                self.note(TOO_LONG);
                return Ok(false);
            }
            Err(error) => return Err(ToolError::execution_failed(error.to_string())),
        };
        match cx.ask(question).await {
            Ok(answer) => Ok(answer == Answer::Confirmation(true)),
            Err(AskError::Cancelled) => Err(ToolErrorKind::Cancelled.into()),
            Err(error @ AskError::Host { .. }) => {
                self.note(&error.to_string());
                Ok(false)
            }
            Err(_) => Ok(false),
        }
    }
}
