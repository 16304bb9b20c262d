//! `toolcrib mcp approve`

use host::style::{STRONG, paint};
use host::trust::{Approval, Change, Subject};
use host::{Argument, Arguments, Command, CommandContext, Exit, ValueForm, ValueKind};
use serde_json::json;
use tools::visible::visible;
use tools::{Digest, counted};
use tools_mcp::config::FileOwner;
use tools_mcp::trust::Pending;

use super::connect;
use crate::error::McpError;
use crate::inventory::{Configured, Inventory};

pub(super) const APPROVE: Command = Command {
    about: "Approve a project's server, or new and changed tools of any server",
    details: "Asks on a terminal. Without one, --digest names what to approve, as an earlier `approve` has shown it.",
    arguments: &[
        connect::SERVER,
        Argument::Root,
        Argument::Settings,
        Argument::Value {
            name: "digest",
            value: "DIGEST",
            form: ValueForm::NamedMany,
            kind: ValueKind::text::<Digest>(),
            help: "Approve the facts or the tools of this digest without a question; repeatable",
        },
        Argument::value::<String>(
            ValueForm::NamedMany,
            "variable",
            "NAME",
            "Let the project's server refer to this variable of the environment; repeatable",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(approve(arguments, cx).await?) })),
    ..Command::new("approve")
};

/// Shows what waits for approval, and approves it if the person or a digest says so.
async fn approve(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let digests = &arguments.values("digest")?[..];
    let (mut inventory, mut server) = connect::find(arguments, cx)?;
    let is_of_project = server.owner == FileOwner::Project;
    let before = server.settings.clone();
    if is_of_project {
        let names = arguments.values("variable")?;
        server.settings = server.settings.with_variables(names);
    }
    if !approve_server(&inventory, &mut server, digests, cx).await? {
        return Ok(Exit::Refused);
    }
    if is_of_project && server.settings != before {
        let workspace = inventory.workspace.clone();
        inventory
            .user
            .set_project_variables(&workspace, server.name.as_str(), &server.settings)?;
        inventory.user.write(FileOwner::User)?;
    }
    let connected = connect::connect(&inventory, &server, cx).await?;
    let pending = connected.pins.pending();
    if pending.is_empty() {
        let count = counted(connected.report.tools.len() as u64, "tool");
        let name = paint(STRONG, &server.name);
        cx.write_page(&format!("{name}: {count} approved\n"))?;
        return Ok(Exit::Success);
    }
    let facts: Vec<_> = pending
        .iter()
        .map(|pending| json!([pending.tool, pending.present.digest()]))
        .collect();
    let digest = Digest::hash_json(&json!(facts));
    cx.write_page(&shown_tools(&pending, &digest))?;
    if !cx.is_approved(digests, &digest, "these tools").await? {
        return Ok(Exit::Refused);
    }
    connected.pins.approve(&pending)?;
    Ok(Exit::Success)
}

/// Returns true if a server is approved, or is so now. It gets the variables that it needs together with the approval of a
/// person.
async fn approve_server(
    inventory: &Inventory,
    server: &mut Configured,
    digests: &[Digest],
    cx: &dyn CommandContext,
) -> Result<bool, McpError> {
    let (approval, subject) = inventory.approval(server)?;
    let is_of_project = server.owner == FileOwner::Project;
    let mut missing: Vec<_> = server.entry.variables()?.into_iter().collect();
    missing.retain(|name| is_of_project && !server.settings.variables.contains(name));
    let changes = match approval {
        Approval::Given if missing.is_empty() => return Ok(true),
        Approval::Given | Approval::Missing => Vec::new(),
        Approval::Outdated(changes) => changes,
    };
    cx.write_page(&shown_server(&subject, &changes, server, &missing))?;
    let digest = subject.digest();
    let what = if missing.is_empty() || !digests.is_empty() {
        "this server"
    } else {
        "this server, and give it the variables that it asks for"
    };
    if !cx.is_approved(digests, &digest, what).await? {
        return Ok(false);
    }
    // A digest approves no variables, so the person names them.
    if !missing.is_empty() && !digests.is_empty() {
        let flags = missing.iter().map(|name| format!(" --variable {name}"));
        cx.hint(&format!(
            "the server needs variables; to give it them, add{}",
            flags.collect::<String>()
        ));
        return Ok(false);
    }
    inventory.approvals().approve(&subject, &digest)?;
    server.settings = std::mem::take(&mut server.settings).with_variables(missing);
    Ok(true)
}

/// Returns the facts about a server, unexpanded, with those that have changed.
fn shown_server(
    subject: &Subject,
    changes: &[Change],
    server: &Configured,
    missing: &[String],
) -> String {
    let name = paint(STRONG, &server.name);
    let mut page = format!("{name} of {}\n", visible(&subject.workspace));
    for (fact, value) in &subject.facts {
        page += &format!("  {fact}: {}\n", visible(&value.to_string()));
        if let Some(change) = changes.iter().find(|change| change.fact == *fact) {
            page += &shown_before(change);
        }
    }
    for change in changes.iter().filter(|change| change.after.is_none()) {
        page += &format!("  {}: absent\n{}", change.fact, shown_before(change));
    }
    if !server.settings.variables.is_empty() {
        let names = server.settings.variables.join(", ");
        page += &format!("  gets the variables: {}\n", visible(&names));
    }
    if !missing.is_empty() {
        let names = missing.join(", ");
        page += &format!("  asks for the variables: {}\n", visible(&names));
    }
    page + &format!("  digest: {}\n", subject.digest())
}

/// Returns the line with the value that was approved before.
fn shown_before(change: &Change) -> String {
    let before = change.before.as_ref();
    let before = before.map_or_else(|| "absent".to_owned(), ToString::to_string);
    format!("    approved before: {}\n", visible(&before))
}

/// Returns the definitions of new tools, and the differences of changed ones.
fn shown_tools(pending: &[Pending], digest: &Digest) -> String {
    let mut page = String::new();
    for pending in pending {
        let state = if pending.pinned.is_some() {
            "has changed"
        } else {
            "is new"
        };
        page += &format!("{} {state}:\n", paint(STRONG, &pending.tool));
        for line in pending.diff().lines() {
            page += &format!("  {}\n", visible(line));
        }
    }
    page + &format!("digest: {digest}\n")
}
