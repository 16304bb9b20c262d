//! [`OAuthClient`]: the registration of the program at an authorisation server.

use serde::Serialize;
use serde_json::Value;

use crate::config::fields::{Fields, Misplaced};

/// The field of an entry.
pub(super) const FIELD: &str = "oauth";

/// The registration of the program at the authorisation server of a server, with the fields of `oauth` that other programs have too.
/// Without one, a login registers the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OAuthClient {
    /// `clientId`: the identifier that the authorisation server gave the program.
    #[serde(rename = "clientId", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `clientSecret`: the secret of the identifier.
    #[serde(rename = "clientSecret", skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// `clientMetadataUrl`: the `https` URL of a document that describes the program.
    #[serde(rename = "clientMetadataUrl", skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// `callbackPort`: the port of this machine to which the browser leads back. `None` is any.
    #[serde(rename = "callbackPort", skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
}

impl OAuthClient {
    pub(super) fn parse(entry: Fields<'_>) -> Result<Self, Misplaced> {
        let Some(fields) = entry.object(FIELD)?.map(Fields) else {
            return Ok(Self::default());
        };
        let within = |(place, fault): Misplaced| (format!("{FIELD}.{place}"), fault);
        let text = |name| fields.text(name).map_err(within);
        let port = |value: &Value| u16::try_from(value.as_u64()?).ok().filter(|port| *port > 0);
        let callback_port = fields
            .read("callbackPort", "a port, 1 to 65535", port)
            .map_err(within)?;
        Ok(Self {
            id: text("clientId")?,
            secret: text("clientSecret")?,
            document: text("clientMetadataUrl")?,
            callback_port,
        })
    }

    /// Returns true if there are no fields.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
