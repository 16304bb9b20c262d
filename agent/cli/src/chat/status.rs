//! [`status`]: the status line of a chat.

use std::path::Path;

use agent::Cost;
use tools::{Access, counted, join};

use crate::session::OpenSession;
use tools::visible::visible;

/// Returns the status of a session: its model, folder, the tokens of its last request, its cost, and what runs without a question.
pub(super) fn status(opened: &OpenSession, root: &Path) -> String {
    let (runner, session) = (&opened.runner, &opened.session);
    let model = runner.model.iter().map(|model| format!("/{model}"));
    let model = runner.provider.clone() + &model.collect::<String>();
    let folder = root.file_name().unwrap_or(root.as_os_str());
    let tokens = session.request_tokens();
    let cost = Some(runner.view.effects.spent().all.cost).filter(|cost| *cost > Cost::default());
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
