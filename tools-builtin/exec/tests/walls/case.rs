//! The combinations of layers and users.

use std::fmt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use tools_exec::walls::{Bubblewrap, Confinement, Layers, Network};

const NOBODY: u32 = 65534;

/// One combination of layers, as one user.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) layers: Layers,
    pub(crate) alone: bool,
    pub(crate) network: Network,
    pub(crate) user: u32,
    /// The reason why this machine cannot run the case.
    pub(crate) missing: Option<String>,
}

/// Returns all cases that the current user can switch to.
pub(crate) fn all() -> Vec<Case> {
    let current = rustix::process::getuid().as_raw();
    let users = if current == 0 {
        vec![0, NOBODY]
    } else {
        vec![current]
    };
    let layers = Layers::probe();
    let bubblewrap = match &layers.bubblewrap {
        Bubblewrap::Works { .. } => None,
        other => Some(other.to_string()),
    };
    let without = layers.clone().without_bubblewrap();
    let alone = match without.confinement() {
        Ok(Confinement::LandlockAlone) => None,
        other => Some(format!("{other:?}")),
    };
    let mut cases = Vec::new();
    for user in users {
        let case = Case {
            layers: layers.clone(),
            alone: false,
            network: Network::None,
            user,
            missing: bubblewrap.clone(),
        };
        cases.push(case.clone());
        cases.push(Case {
            layers: Layers {
                landlock: None,
                ..layers.clone()
            },
            ..case
        });
        let case = Case {
            layers: without.clone(),
            alone: true,
            network: Network::None,
            user,
            missing: alone.clone(),
        };
        cases.push(case.clone());
        cases.push(Case {
            network: Network::Machine,
            ..case
        });
    }
    cases
}

impl Case {
    pub(crate) fn is_root(&self) -> bool {
        self.user == 0
    }

    /// Returns true if a program gets the network of the machine.
    pub(crate) fn has_network(&self) -> bool {
        self.network == Network::Machine
    }

    /// Returns true if the case runs on request alone.
    pub(crate) fn is_long(&self) -> bool {
        let is_confinement = self.alone || self.layers.landlock.is_some();
        !is_confinement || self.user != rustix::process::getuid().as_raw()
    }

    /// Lets `command` run as the user of this case.
    pub(crate) fn switch_user<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if rustix::process::getuid().is_root() && !self.is_root() {
            command.uid(self.user).gid(self.user);
        }
        command
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.is_root() { "root" } else { "user" };
        let layers = match (self.alone, self.layers.landlock) {
            (true, _) if self.has_network() => "landlock_alone_with_network",
            (true, _) => "landlock_alone",
            (false, None) => "bubblewrap_alone",
            (false, Some(_)) => "bubblewrap",
        };
        write!(f, "{layers}::{user}")
    }
}
