//! Opening a connection in the newest common revision of the protocol.

use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};

use super::link::shown;
use super::service::Client;
use super::{ImportError, Server, ServerName};

/// The maximum length of one message of a server, in bytes. A longer one is dropped.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// A connection, with the guard that ends with it.
pub(super) type Connected = (RunningService<RoleClient, Client>, Box<dyn std::any::Any + Send>);

/// Opens a connection: revision 2026-07-28, or 2025-11-25 if the server does not speak the newer one.
///
/// A server that ends the connection at a message of the newer revision gets a second connection. `is_legacy` is set if a server needs
/// the older revision, so that later connections begin with it.
pub(super) async fn connect(
    name: &ServerName,
    server: &Server,
    client: &Client,
    limit: Duration,
    is_legacy: &mut bool,
) -> Result<Connected, ImportError> {
    let connecting = async {
        if !*is_legacy {
            match handshake(name, server, client, automatic()).await? {
                Ok(connected) => return Ok(connected),
                Err(error) if may_be_legacy(&error) => {
                    tracing::debug!(server = name.as_str(), %error, "trying revision 2025-11-25 on another connection");
                }
                Err(error) => return Err(refused(name, &error)),
            }
        }
        let connected = handshake(name, server, client, ClientLifecycleMode::Initialize).await?;
        connected.inspect(|_| *is_legacy = true).map_err(|error| refused(name, &error))
    };
    let late = |_| Err(ImportError::Timeout { name: name.clone(), limit });
    tokio::time::timeout(limit, connecting).await.unwrap_or_else(late)
}

async fn handshake(
    name: &ServerName,
    server: &Server,
    client: &Client,
    mode: ClientLifecycleMode,
) -> Result<Result<Connected, ClientInitializeError>, ImportError> {
    let opened = server.open().await;
    let opened = opened.map_err(|error| ImportError::Open { name: name.clone(), reason: shown(&error.to_string()) })?;
    let transport = AsyncRwTransport::new(opened.read, opened.write).with_max_line_length(MAX_LINE);
    let running = client.clone().serve_with_lifecycle(transport, mode).await;
    Ok(running.map(|running| (running, opened.alive)))
}

fn automatic() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// Returns true if another connection with the older revision may succeed.
fn may_be_legacy(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            server_supported.iter().any(ProtocolVersion::has_initialize)
        }
        ClientInitializeError::LegacyFallbackFailed { .. } | ClientInitializeError::Cancelled => false,
        other => !other.is_authorization_required(),
    }
}

fn refused(name: &ServerName, error: &ClientInitializeError) -> ImportError {
    ImportError::Handshake { name: name.clone(), reason: shown(&error.to_string()) }
}
