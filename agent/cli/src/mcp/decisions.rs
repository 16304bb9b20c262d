//! The decisions of the user about servers, in the file of servers.

use tools::protocol::Access;
use tools::{Clause, Effects, Target};

use super::Inventory;
use crate::root::RootOption;

/// Returns the effects that the user declared for tools of servers, without the servers that cannot be used.
pub(crate) fn declared_effects(root: &RootOption) -> Vec<Effects> {
    let servers = Inventory::load(root).map(|inventory| inventory.servers()).unwrap_or_default();
    let configured = servers.into_iter().filter_map(|(_, _, configured)| configured.ok());
    configured.flat_map(|server| server.settings.effects().cloned().collect::<Vec<_>>()).collect()
}

/// Returns the clauses of the calls that the user permits in the file of servers: those of tools that only read, and those of servers whose
/// calls need no question, which are consent to writes too.
pub(crate) fn permitted(root: &RootOption) -> (Vec<Clause>, Vec<Clause>) {
    let (mut reads, mut allowed) = (Vec::new(), Vec::new());
    let Ok(inventory) = Inventory::load(root) else { return (reads, allowed) };
    for (.., configured) in inventory.servers() {
        let Ok(server) = configured else { continue };
        if server.settings.allow {
            allowed.extend(format!("world:write:mcp:{}/**", server.name).parse::<Clause>());
        }
        // The pins are read only if they matter.
        let pins = server.settings.has_read_only().then(|| inventory.pins(&server).ok()).flatten();
        for (name, definition) in pins.iter().flat_map(|pins| pins.known()) {
            let target = name.as_str().split_once(':').map(|(scheme, value)| Target::new(Access::Read, scheme, value));
            if let Some(Ok(target)) = target.filter(|_| server.settings.only_reads(&server.name, &name, &definition)) {
                reads.push(target.to_clause());
            }
        }
    }
    (reads, allowed)
}
