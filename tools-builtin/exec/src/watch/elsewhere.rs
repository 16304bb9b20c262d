//! [`Watch`] on systems where programs are unavailable: there is nothing to look at.

use std::path::{Path, PathBuf};

use tools::{ToolContext, ToolError};
use tools_fs::Workspace;

use crate::request::Request;
use crate::sandbox::{Granted, Sandbox};

/// The look before a program, which does not start.
pub(crate) struct Watch;

/// The result of the look after a program, which there is not.
pub(crate) enum Settled {}

impl Watch {
    pub(crate) fn begin(
        _cx: &ToolContext,
        _sandbox: &Sandbox,
        _workspace: &Workspace,
        _granted: &Granted,
        _is_kept: bool,
        _request: &Request,
    ) -> Result<Self, ToolError> {
        Ok(Self)
    }

    pub(crate) fn record(&self) -> Result<(), ToolError> {
        Ok(())
    }

    pub(crate) fn before(&self) -> &Self {
        self
    }

    pub(crate) fn check(&self, _root: &Path) -> Result<(), ToolError> {
        Ok(())
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    pub(crate) fn settle(&self) {}

    pub(crate) fn take(&self) -> Option<Settled> {
        None
    }
}

impl Settled {
    pub(crate) async fn finish(self, _cx: &ToolContext) -> Vec<String> {
        match self {}
    }
}
