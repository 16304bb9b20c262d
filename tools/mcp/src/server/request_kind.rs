//! [`RequestKind`]: the requests that a server may make of a client.

use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, ElicitRequest, ElicitResult, InputRequest,
    ListRootsRequest, ServerRequest,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A kind of request of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Elicitation,
    Sampling,
    Roots,
}

impl RequestKind {
    /// Returns the kind of a method. Returns `None` if a server may not call it.
    pub(super) fn from_method(method: &str) -> Option<Self> {
        match method {
            "elicitation/create" => Some(Self::Elicitation),
            "sampling/createMessage" => Some(Self::Sampling),
            "roots/list" => Some(Self::Roots),
            _ => None,
        }
    }

    /// Returns the name of the client's capability.
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// Returns the capabilities of a client that takes only this kind.
    pub(super) fn required(self) -> ClientCapabilities {
        from_json(json!({self.capability(): {}})).unwrap_or_default()
    }

    /// Returns true if a client with these capabilities takes the request. A client may take elicitation by URL only.
    pub(super) fn is_in(self, capabilities: &ClientCapabilities) -> bool {
        match self {
            Self::Elicitation => capabilities
                .elicitation
                .as_ref()
                .is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            Self::Sampling => capabilities.sampling.is_some(),
            Self::Roots => capabilities.roots.is_some(),
        }
    }

    /// Returns the request with these parameters. Returns the reason if the parameters do not fit.
    pub(super) fn request(self, params: Value) -> Result<InputRequest, String> {
        let method = match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        };
        let request = json!({"method": method, "params": params});
        let invalid = |error: serde_json::Error| error.to_string();
        Ok(match self {
            Self::Elicitation => InputRequest::Elicitation(
                serde_json::from_value::<ElicitRequest>(request).map_err(invalid)?,
            ),
            Self::Sampling => InputRequest::CreateMessage(
                serde_json::from_value::<CreateMessageRequest>(request).map_err(invalid)?,
            ),
            Self::Roots => InputRequest::ListRoots(
                serde_json::from_value::<ListRootsRequest>(request).map_err(invalid)?,
            ),
        })
    }

    /// Returns true if a client's answer has the form of this kind's result.
    pub(super) fn accepts(self, answer: &Value) -> bool {
        match self {
            Self::Elicitation => from_json::<ElicitResult>(answer.clone()).is_some(),
            Self::Sampling => answer.get("content").is_some() && answer["model"].is_string(),
            Self::Roots => answer["roots"].is_array(),
        }
    }
}

/// Returns the request as a message of its own.
pub(super) fn server_request(request: InputRequest) -> Option<ServerRequest> {
    match request {
        InputRequest::Elicitation(request) => Some(ServerRequest::ElicitRequest(request)),
        InputRequest::CreateMessage(request) => Some(ServerRequest::CreateMessageRequest(request)),
        InputRequest::ListRoots(request) => Some(ServerRequest::ListRootsRequest(request)),
        _ => None,
    }
}

fn from_json<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}
