//! Programs without a network: this build has no HTTP client, or this system no sandbox.

use tools::ToolContext;

use crate::walls::Gate;

/// The network of a program, which there is none of.
pub(crate) enum Network {}

impl Network {
    pub(crate) fn check(_: &ToolContext) -> Result<(), &'static str> {
        Err("this build has none for programs")
    }

    pub(crate) fn start(cx: &ToolContext) -> Result<Option<Self>, String> {
        match super::wanted_hosts(cx) {
            Err(reason) => Err(format!("the program had no network, because {reason}")),
            Ok(_) => Ok(None),
        }
    }

    pub(crate) fn gate(&self) -> Gate {
        match *self {}
    }

    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        match *self {}
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        match *self {}
    }
}
