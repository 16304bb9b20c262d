//! [`OAuthClient`]: the program's registration, and [`Settings`]: the settings of logins.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::client::http::challenges::Challenges;

/// The registration of the program at a server's authorisation server, as `oauth` in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OAuthClient {
    /// `clientId`: the identifier that the authorisation server gave the program, so that a login does not register it.
    #[serde(rename = "clientId", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `clientSecret`: the secret of the identifier.
    #[serde(rename = "clientSecret", skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// `clientMetadataUrl`: the `https` URL of a document that describes the program. A login registers the program with the
    /// servers that do not read such documents.
    #[serde(rename = "clientMetadataUrl", skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// `callbackPort`: the port of this machine to which the browser leads back, as `http://127.0.0.1:PORT/callback`. `None` is any: an
    /// authorisation server ignores the port of such a URL, unless it knows the program by a registration that has one.
    #[serde(rename = "callbackPort", skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
}

impl OAuthClient {
    /// Returns true if there are no fields.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The settings of logins.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(super) folder: Option<PathBuf>,
    pub(super) client: OAuthClient,
    pub(in crate::client::http) challenges: Arc<Challenges>,
}
