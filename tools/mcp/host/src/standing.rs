//! The standing of servers, in words.

use std::path::Path;

use host::{FamilyReport, Finding, program};
use serde_json::json;
use tools::counted;
use tools_mcp::config::FileOwner;
use tools_mcp::trust::Pins;

use crate::error::McpError;
use crate::inventory::{Configured, Inventory, Standing};

/// The start of the standing of a server that cannot be used.
const UNUSABLE: &str = "unusable: ";

/// Returns each server with its standing, for `doctor`, and the reasons why servers or files cannot be used.
///
/// # Errors
/// Returns an error if the user's file of servers cannot be read.
pub(super) fn report(root: &Path) -> Result<FamilyReport, McpError> {
    let mut report = FamilyReport::default();
    let inventory = match Inventory::load(root) {
        Ok(inventory) => inventory,
        // A root that cannot be used is a finding of its own.
        Err(McpError::NoHome | McpError::Root(_)) => return Ok(report),
        Err(error) => return Err(error),
    };
    let mut problems: Vec<_> = inventory.fault.iter().map(ToString::to_string).collect();
    for (server, owner, configured) in inventory.servers() {
        let standing = match configured {
            Ok(configured) => {
                let pins = inventory.pins(&configured).ok();
                let faults = pins.iter().flat_map(|pins| faults(pins));
                problems.extend(faults.map(|fault| format!("MCP server {server}: {fault}")));
                standing(&inventory, &configured)
            }
            Err(error) => format!("{UNUSABLE}{error}"),
        };
        if let Some(reason) = standing.strip_prefix(UNUSABLE) {
            problems.push(format!("MCP server {server}: {reason}"));
        }
        let whose = match owner {
            FileOwner::User => "yours",
            FileOwner::Project => "of the project",
        };
        report
            .lines
            .push(format!("MCP server {server} ({whose}): {standing}"));
        report
            .documents
            .push(json!({"server": server, "file": owner.as_str(), "standing": standing}));
    }
    let problems = problems.into_iter();
    report.findings = problems
        .map(|problem| Finding::new("mcp", problem).with_fix("mcp"))
        .collect();
    Ok(report)
}

/// Returns the reasons why tools of a server cannot be used.
fn faults(pins: &Pins) -> Vec<String> {
    let effects = pins.remarks().into_iter().filter(|remark| remark.is_fault);
    let unusable = pins.unusable().into_iter();
    effects
        .map(|remark| remark.text)
        .chain(unusable.map(|(_, refused)| refused.to_string()))
        .collect()
}

/// Returns remarks about the entry of a server, the effects that the user declared for its tools, and those that cannot be used.
fn remarks(server: &Configured, pins: &Pins) -> Vec<String> {
    let effects = pins.remarks().into_iter().filter(|remark| !remark.is_fault);
    let effects = effects.map(|remark| remark.text);
    remark_ignored(server)
        .into_iter()
        .chain(effects)
        .chain(faults(pins))
        .collect()
}

/// Returns a remark about the fields of an entry that have no meaning, if there are any.
pub(crate) fn remark_ignored(server: &Configured) -> Option<String> {
    let fields = server.entry.ignored.join(", ");
    (!fields.is_empty()).then(|| format!("its entry has fields without a meaning here: {fields}"))
}

/// Returns the standing of a server in words.
pub(crate) fn standing(inventory: &Inventory, server: &Configured) -> String {
    let approve = format!("run {} mcp approve {}", program::name(), server.name);
    match inventory.standing(server) {
        Standing::Ready(_) => match inventory.pins(server) {
            Ok(pins) if pins.is_pinned() => {
                let count = counted(pins.known_tools().len() as u64, "tool");
                let mut text = format!("ready, {count} approved");
                let waiting = pins.pending().len() as u64;
                if waiting > 0 {
                    let count = counted(waiting, "tool");
                    text += &format!("; approval pending for {count}; {approve}");
                }
                let remarks = remarks(server, &pins).into_iter();
                text.extend(remarks.map(|remark| format!("; {remark}")));
                text
            }
            Ok(_) => "ready, not used yet".to_owned(),
            Err(error) => format!("{UNUSABLE}{error}"),
        },
        Standing::Disabled(_) => "disabled".to_owned(),
        Standing::Unapproved => format!("waits for approval; {approve}"),
        Standing::Changed(changes) => {
            let facts: Vec<_> = changes.iter().map(|change| change.fact.as_str()).collect();
            let facts = facts.join(", ");
            format!("has changed since it was approved ({facts}); {approve}")
        }
        Standing::Unusable(reason) => format!("{UNUSABLE}{reason}"),
    }
}
