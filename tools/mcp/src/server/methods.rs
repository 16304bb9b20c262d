//! [`Methods`]: prompts, resources and completions of a host.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::server::peer::Peer;

/// The future of a [`Methods`] call.
pub type MethodFuture = Pin<Box<dyn Future<Output = Result<Value, MethodError>> + Send>>;

/// Answers the methods of prompts, resources and completions, with parameters and results as the protocol has them.
pub trait Methods: Send + Sync {
    /// Returns the capabilities beside those of tools, such as `{"prompts": {}}`.
    fn capabilities(&self) -> Map<String, Value>;

    /// Answers one request, such as `prompts/get`. Clients call only the methods of the capabilities.
    fn call(&self, method: &'static str, params: Value, peer: Peer) -> MethodFuture;
}

/// The error of a method, for JSON-RPC.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct MethodError {
    /// The code, such as -32602 for invalid parameters.
    pub code: i32,
    /// The message.
    pub message: String,
    /// Further facts.
    pub data: Option<Value>,
}

impl MethodError {
    /// Creates an error.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}
