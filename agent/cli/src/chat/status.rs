//! [`StatusHint`]: the status line of a chat.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent::Cost;
use rustyline::hint::Hint;
use tools::{Access, IgnorePoison as _, counted, join};

use crate::notice;
use crate::session::OpenSession;
use crate::status_lines::status_line;
use tools::visible::visible;

/// Returns the status of a session: its model, folder, the tokens of its last request, its cost, and what runs without a question.
pub(super) fn status(opened: &OpenSession, root: &Path) -> String {
    let (runner, session) = (&opened.runner, &opened.session);
    let model = runner.model.iter().map(|model| format!("/{model}"));
    let model = runner.provider.clone() + &model.collect::<String>();
    let folder = root.file_name().unwrap_or(root.as_os_str());
    let tokens = session.request_tokens();
    let cost = Some(runner.console.effects.spent().all.cost).filter(|cost| *cost > Cost::default());
    let grant = session.context().grant();
    let rights = match &grant.layers().collect::<Vec<_>>()[..] {
        // A destroy is asked about each time, even if it is granted. Harmless commands would take the room of the others.
        [layer] => {
            let harmless: Vec<_> = host::harmless_commands()
                .map(|(_, clause, _)| clause)
                .collect();
            let shown = layer.iter().filter(|clause| {
                clause.access() != Some(Access::Destroy)
                    && !harmless.contains(&clause.to_string().as_str())
            });
            join(shown, ", ")
        }
        _ => grant.to_string(),
    };
    let parts = [
        Some(model),
        Some(folder.display().to_string()),
        tokens.map(|tokens| counted(tokens, "token")),
        cost.map(|cost| format!("cost {cost}")),
        Some(format!("unasked: {rights}")),
    ];
    visible(&join(parts.into_iter().flatten(), " · ")).into_owned()
}

/// The status line below the line editor.
#[derive(Clone, Default)]
pub(super) struct StatusHint {
    /// The status. Empty if none is shown.
    status: Arc<Mutex<String>>,
    /// The columns of the terminal when the line was drawn. 0 before.
    width: Arc<AtomicUsize>,
}

impl StatusHint {
    pub(super) fn set(&self, status: String) {
        *self.status.lock().ignore_poison() = status;
        self.width.store(0, Ordering::Relaxed);
    }

    /// Returns the text to be drawn below the typed one. On a terminal that has become narrower, erases the rows into which it broke
    /// the former one: the editor knows of one row.
    pub(super) fn draw(&self) -> Option<StatusText> {
        let width = notice::width();
        let before = self.width.swap(width, Ordering::Relaxed);
        if width < before {
            notice::write_raw("\x1b[J");
        }
        let status = self.status.lock().ignore_poison();
        (!status.is_empty()).then(|| StatusText(format!("\n{}", status_line(&status, width))))
    }

    /// Erases the line after the editor left it, as it does at Ctrl-C. The cursor is in the row below it.
    pub(super) fn erase(&self) {
        if !self.status.lock().ignore_poison().is_empty() {
            notice::write_raw("\x1b[A\r\x1b[J");
        }
    }
}

/// A text below the typed one, which is not to be typed.
pub(super) struct StatusText(String);

impl Hint for StatusText {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}
