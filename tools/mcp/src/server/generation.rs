//! [`Generation`]: the two lifecycles of the protocol.

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;

/// A generation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// The revisions up to 2025-11-25: the server sends requests to the client.
    Legacy,
    /// The revisions from 2026-07-28 on: the server answers a request with the input that it requires.
    Modern,
}

impl Generation {
    /// Returns the generation of a request.
    pub(super) fn of(request: &RequestContext<RoleServer>) -> Self {
        match request.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Self::Modern,
            _ => Self::Legacy,
        }
    }
}
