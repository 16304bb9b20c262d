//! The texts of the project that a session begins with, and the questions about those that nobody has approved.

use std::path::Path;

use agent::Session;
use terminal::{Console, stderr::width};
use tools::ToolContext;

use crate::config::Settings;
use crate::error::Error;
use crate::host_options::HostOptions;
use crate::{instructions, notice, trust};
use host::trust::{Content, Records, Unapproved};

/// The maximum number of lines of a page that a question shows. `toolcrib trust` shows longer ones.
const MAX_LINES: usize = 40;

/// The texts of the project that a session begins with.
pub(super) struct ProjectTexts {
    pub(super) instructions: Option<Content>,
    unapproved: Vec<Unapproved>,
}

impl ProjectTexts {
    /// Reads the instructions, and takes the settings files that are in effect.
    pub(super) fn read(cx: &ToolContext, settings: &Settings) -> Self {
        let root = settings.root();
        let instructions = root.and_then(|root| instructions::read(root, cx));
        let records = Records::own();
        let of_instructions = instructions
            .clone()
            .and_then(|content| Records::judge(records.as_ref(), content));
        let unapproved = of_instructions
            .into_iter()
            .chain(settings.list_unapproved().cloned())
            .collect();
        Self {
            instructions,
            unapproved,
        }
    }

    /// Asks the person at the terminal about instructions that are new to them.
    pub(super) async fn offer(mut self, console: &Console) -> Self {
        let of_instructions =
            |unapproved: &&Unapproved| Some(&unapproved.content) == self.instructions.as_ref();
        if let Some(unapproved) = self.unapproved.iter().find(of_instructions).cloned()
            && is_approved(
                &unapproved,
                "Have you read this, and may sessions begin with it?",
                console,
            )
            .await
        {
            self.unapproved.retain(|other| *other != unapproved);
        }
        self
    }

    /// Records that the session reads text of strangers if nobody has approved a text, and says so.
    pub(super) fn expose(&self, session: &Session) {
        for unapproved in &self.unapproved {
            session.context().record_exposure();
            trust::tell_exposure(unapproved);
        }
    }
}

/// Asks the person at the terminal about settings files of trusted directories, unless a session may have written them.
pub(super) async fn offer_settings(host: &HostOptions, console: &Console) -> Result<(), Error> {
    let records = Records::own();
    for (content, is_below_trusted) in host.project_contents()? {
        if is_below_trusted
            && let Some(unapproved) = Records::judge(records.as_ref(), content)
            // A file that a session may have written is approved with `trust` alone, which shows all of it.
            && !unapproved.is_recent
        {
            is_approved(&unapproved, "Trust this file?", console).await;
        }
    }
    Ok(())
}

/// Records that a session begins in this workspace.
pub(crate) fn note_session(workspace: &str) {
    if let Some(records) = Records::own() {
        // The journal warns about a state folder that cannot be written. Nothing can be approved in it either.
        let _ = records.note_session(Path::new(workspace));
    }
}

/// Shows the content and asks about it, unless it is long. Records a yes.
async fn is_approved(unapproved: &Unapproved, question: &str, console: &Console) -> bool {
    let page = trust::page(unapproved, width());
    if !terminal::has_person() || page.lines().count() > MAX_LINES {
        return false;
    }
    if !terminal::confirm(console, &page, question).await {
        return false;
    }
    let recorded = Records::own().map(|records| records.approve(&unapproved.content));
    if let Some(Err(error)) = &recorded {
        notice::warning(&error.to_string());
    }
    recorded.is_some_and(|recorded| recorded.is_ok())
}
