//! Programs without a network: this build has no HTTP client, or this system no sandbox.

use tools::ToolContext;

use crate::supervise::Launch;
use crate::walls::Confinement;

/// The network of a program, which there is none of.
pub(crate) enum Network {}

impl Network {
    pub(crate) fn is_offered(_: &ToolContext) -> bool {
        false
    }

    pub(crate) fn start(cx: &ToolContext, confinement: Option<&Confinement>) -> Result<Option<Self>, String> {
        let is_missed = confinement.is_some() && super::is_granted(cx) && !super::hosts(cx).is_empty();
        if is_missed {
            Err("the program had no network, because this build has none for programs".to_owned())
        } else {
            Ok(None)
        }
    }

    pub(crate) fn attach(&self, _: Launch) -> Launch {
        match *self {}
    }

    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        match *self {}
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        match *self {}
    }
}
