//! `toolcrib sessions`: the list.

use std::time::Duration;

use host::style::{FAINT, PLAIN, STRONG};
use host::table::Table;
use host::{CommandContext, CommandError, describe_size, duration, program};
use jiff::Timestamp;
use tools::join;
use tools::visible::visible;

use crate::folder::{SessionFolder, warn_of_skipped};
use crate::summary::SessionSummary;

/// Prints the sessions of a workspace, or all sessions.
pub(crate) fn list(
    cx: &dyn CommandContext,
    workspace: Option<&str>,
    is_json: bool,
) -> Result<(), CommandError> {
    let folder = SessionFolder::new()?;
    let mut listed = Vec::new();
    for id in folder.ids()? {
        match SessionSummary::read(&folder, id) {
            Ok(session) => listed.extend(session),
            Err(error) => warn_of_skipped(id, &error),
        }
    }
    let all = listed.len();
    listed.retain(|session| workspace.is_none_or(|workspace| session.workspace == workspace));
    if is_json {
        listed
            .iter()
            .try_for_each(|session| cx.write_json(session))?;
    } else if !listed.is_empty() {
        let mut table = Table::new([STRONG, PLAIN, FAINT, FAINT, FAINT, PLAIN], 0);
        let place = if workspace.is_none() { "WORKSPACE" } else { "" };
        table.push(["ID", "STATE", "AGE", "SIZE", place, "PROMPT"].map(str::to_owned));
        for session in &listed {
            table.push(row(session, workspace.is_none()));
        }
        cx.write_page(&table.cut(cx.width()))?;
    }
    if listed.is_empty() {
        let program = program::name();
        cx.note(&match all {
            0 => {
                format!("no session is recorded; {program} run and {program} chat record one each")
            }
            _ => format!(
                "no session of this workspace; {program} sessions --all lists those of others: {all}"
            ),
        });
    }
    Ok(())
}

fn row(session: &SessionSummary, with_workspace: bool) -> [String; 6] {
    let since = Timestamp::now().duration_since(session.started);
    let words = join(session.prompt.split_whitespace(), " ");
    let place = if with_workspace {
        &session.workspace
    } else {
        ""
    };
    [
        session.id.to_string(),
        session.state.to_owned(),
        duration::format(Duration::try_from(since).unwrap_or_default()),
        describe_size(session.bytes),
        visible(place).into_owned(),
        visible(&words).into_owned(),
    ]
}
