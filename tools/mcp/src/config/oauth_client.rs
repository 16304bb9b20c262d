//! [`OAuthClient`]: the registration of the program at an authorisation server.

use serde_json::{Value, json};

use crate::config::fields::{Fields, Misplaced};

/// The field of an entry.
pub(super) const FIELD: &str = "oauth";

/// The registration of the program at the authorisation server of a server, with the fields of `oauth` that other programs have too.
/// Without one, a login registers the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthClient {
    /// `clientId`: the identifier that the authorisation server gave the program.
    pub id: Option<String>,
    /// `clientSecret`: the secret of the identifier.
    pub secret: Option<String>,
    /// `clientMetadataUrl`: the `https` URL of a document that describes the program.
    pub document: Option<String>,
    /// `callbackPort`: the port of this machine to which the browser leads back. `None` is any.
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

    /// Returns the fields as JSON, or null if there are none.
    pub(crate) fn to_json(&self) -> Value {
        let fields = json!({
            "clientId": self.id,
            "clientSecret": self.secret,
            "clientMetadataUrl": self.document,
            "callbackPort": self.callback_port,
        });
        match fields {
            Value::Object(fields) if *self != Self::default() => fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .collect(),
            _ => Value::Null,
        }
    }
}
