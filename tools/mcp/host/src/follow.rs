//! Approvals of other processes, which reach a running session.

use std::path::Path;
use std::time::{Duration, SystemTime};

use tools_mcp::config::FileOwner;

use crate::attach::Members;
use crate::inventory::{Inventory, Standing};

/// The time between two looks at the files.
const INTERVAL: Duration = Duration::from_secs(1);

/// The state of files: for each one its time of change and its length.
pub(super) type Stamp = Vec<Option<(SystemTime, u64)>>;

impl Members {
    /// Applies the approvals of other processes as they arrive.
    pub(super) async fn follow(mut self, mut inventory: Inventory, mut seen: Stamp) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.announce();
            let stamp = self.stamp(&inventory);
            if stamp == seen {
                continue;
            }
            // A file that is being changed is read the next time.
            let loaded = Inventory::load_whole(&self.root);
            if let Ok(loaded) = loaded.and_then(|loaded| loaded.with_given(self.given.as_ref())) {
                inventory = loaded;
                self.update(&inventory).await;
                // A change since then is seen the next time.
                seen = stamp;
            }
        }
    }

    /// Returns the state of the files that approvals depend on.
    pub(super) fn stamp(&self, inventory: &Inventory) -> Stamp {
        let approvals = inventory.approvals();
        // A folder changes with each file that is replaced in it.
        let files = [
            inventory.user.path(),
            inventory.project.path(),
            approvals.folder(),
        ];
        files
            .into_iter()
            .chain(self.pins.lock().values().map(|pins| &*pins.path))
            .map(state)
            .collect()
    }

    async fn update(&mut self, inventory: &Inventory) {
        let mut gone: Vec<_> = self.pins.lock().keys().cloned().collect();
        for (name, _, configured) in self.matching(inventory) {
            let Ok(configured) = configured else {
                gone.retain(|gone| *gone != name);
                continue;
            };
            // One whose entry has changed runs on as it was approved.
            let is_of_project = configured.owner == FileOwner::Project;
            if configured.entry.is_disabled
                || is_of_project && matches!(inventory.standing(&configured), Standing::Unapproved)
            {
                continue;
            }
            let pins = self.pins.lock().get(&name).cloned();
            match pins.map(|pins| pins.reload()) {
                Some(Ok(true)) => self
                    .servers
                    .get(&name)
                    .iter()
                    .for_each(|server| server.refresh()),
                // Pins that cannot be read do not replace those that were read before.
                Some(Ok(false) | Err(_)) => {}
                // It may wait for approval still, or fail as at the start of a session.
                None => drop(self.start(inventory, &configured)),
            }
            gone.retain(|gone| *gone != name);
        }
        for name in gone {
            self.pins.lock().remove(&name);
            self.servers.remove(&name).await;
        }
    }
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
