//! Opening a connection in the newest common revision of the protocol.

use std::pin::pin;
use std::time::{Duration, Instant};

use rmcp::ClientLifecycleMode;
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientInitializeError;

use crate::client::error::ImportError;
use crate::client::imported::Imported;
use crate::client::server::{Connected, Failure};
use crate::client::service::Client;
use crate::client::transport_reason::{TransportReason, transport_reason};

/// The time limit of `server/discover`. Some servers of the older generation are silent on an unknown method.
const DISCOVERY: Duration = Duration::from_secs(1);

/// Opens a connection: revision 2026-07-28, or 2025-11-25 if the server does not speak the newer one.
///
/// A server that ends the connection at a message of the newer revision gets a second connection. `is_legacy` is set if a server needs
/// the older revision, so that later connections begin with it.
pub(super) async fn connect(
    imported: &Imported,
    client: &Client,
    is_legacy: &mut bool,
) -> Result<Connected<Client>, ImportError> {
    let server = &imported.import.server;
    let limit = imported.import.connect_timeout;
    let connecting = async {
        if !*is_legacy {
            let started = Instant::now();
            match server
                .connect(client.clone(), automatic(), Some(DISCOVERY))
                .await
            {
                // A server of the newer generation may have started too slowly.
                Err(Failure::Handshake(error, _))
                    if matches!(*error, ClientInitializeError::LegacyFallbackFailed { .. })
                        && started.elapsed() > DISCOVERY =>
                {
                    return server.connect(client.clone(), automatic(), None).await;
                }
                Err(Failure::Handshake(error, _)) if may_be_legacy(&error) => {
                    tracing::debug!(server = imported.name().as_str(), %error, "trying revision 2025-11-25 on another connection");
                }
                outcome => return outcome,
            }
        }
        let connected = server
            .connect(client.clone(), ClientLifecycleMode::Initialize, None)
            .await;
        connected.inspect(|_| *is_legacy = true)
    };
    // The process lives until its remarks were read.
    let mut connecting = pin!(connecting);
    match tokio::time::timeout(limit, connecting.as_mut()).await {
        Ok(outcome) => outcome.map_err(|failure| import_error(imported, failure)),
        Err(_) => {
            let remarks = server.remarks();
            let advice = if remarks.is_empty() {
                "see whether it runs".to_owned()
            } else {
                remarks.join("; ")
            };
            Err(ImportError::Timeout {
                name: imported.name().clone(),
                limit,
                advice: imported.show_text(&advice),
            })
        }
    }
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
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => server_supported.iter().any(ProtocolVersion::has_initialize),
        ClientInitializeError::LegacyFallbackFailed { .. } | ClientInitializeError::Cancelled => {
            false
        }
        other => !needs_login(other),
    }
}

/// Returns true if a login, or one with more scopes, may permit the connection.
fn needs_login(error: &ClientInitializeError) -> bool {
    error.auth_challenge().is_some() || error.is_authorization_required()
}

fn import_error(imported: &Imported, failure: Failure) -> ImportError {
    let name = imported.name().clone();
    match failure {
        Failure::Handshake(error, _) if needs_login(&error) => imported.login_required(),
        Failure::Open(reason) => ImportError::Open {
            name,
            reason: imported.show_text(&reason),
        },
        Failure::Handshake(error, end) => {
            let transport = match last(&error) {
                ClientInitializeError::TransportError { error, .. } => {
                    Some(transport_reason(error))
                }
                ClientInitializeError::ConnectionClosed(reason) => {
                    Some(TransportReason::Broken(reason.clone()))
                }
                _ => None,
            };
            let reason = match (transport, end) {
                (Some(TransportReason::Unreachable(reason)), _)
                | (Some(TransportReason::Broken(_)), Some(reason)) => {
                    let reason = imported.show_text(&reason);
                    return ImportError::Open { name, reason };
                }
                (Some(TransportReason::Broken(reason)), None) => reason,
                (None, Some(end)) => format!("{}; {end}", reason(&error)),
                (None, None) => reason(&error),
            };
            let reason = imported.show_text(&reason);
            ImportError::Handshake { name, reason }
        }
    }
}

/// Returns the error of the last attempt.
fn last(error: &ClientInitializeError) -> &ClientInitializeError {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => last(fallback),
        other => other,
    }
}

/// Returns the reasons of both attempts, if there were two.
fn reason(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { discover, fallback } => {
            format!(
                "{}; in revision 2025-11-25: {}",
                reason(discover),
                reason(fallback)
            )
        }
        ClientInitializeError::TransportError { error, .. } => {
            transport_reason(error).into_reason()
        }
        other => other.to_string(),
    }
}
