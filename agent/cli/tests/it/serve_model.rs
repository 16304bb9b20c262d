//! `serve`: tools that ask a model get that of the client.
#![allow(deprecated, reason = "clients still have sampling")]

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ErrorData, Implementation, SamplingMessage,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};

use crate::Crib;
use crate::serve::modes;

/// A client whose model repeats the last message, or that has no model for servers.
struct Client {
    has_model: bool,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling = self.has_model.then(Default::default);
        ClientConfig::new(capabilities, Implementation::new("client", "1"))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let last = serde_json::to_value(params.messages.last().unwrap()).unwrap();
        let text = format!(
            "{}: {}",
            params.system_prompt.unwrap_or_default(),
            last["content"]["text"]
        );
        Ok(CreateMessageResult::new(
            SamplingMessage::assistant_text(text),
            "m".to_owned(),
        ))
    }
}

/// Calls `llm.generate`. Returns the result or the error of the protocol.
async fn generated(has_model: bool, mode: rmcp::ClientLifecycleMode) -> Value {
    let crib = Crib::new();
    let mut child = crib.serve(&["--select", "llm.generate"]).spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = Client { has_model }
        .serve_with_lifecycle(streams, mode)
        .await
        .unwrap();
    let Value::Object(arguments) = json!({"system": "Be brief.", "prompt": "Which colour?"}) else {
        unreachable!()
    };
    let called = client
        .call_tool(CallToolRequestParams::new("llm.generate").with_arguments(arguments))
        .await;
    match called {
        Ok(result) => serde_json::to_value(result).unwrap(),
        Err(error) => json!({"error": error.to_string()}),
    }
}

#[tokio::test]
async fn a_tool_that_asks_a_model_gets_that_of_the_client() {
    for mode in modes() {
        let result = generated(true, mode).await;
        assert_eq!(
            result["content"][0]["text"], "Be brief.: \"Which colour?\"",
            "{result}"
        );
    }
}

#[tokio::test]
async fn a_client_without_a_model_gets_an_error() {
    for mode in modes() {
        let result = generated(false, mode).await;
        assert!(result.to_string().contains("sampling"), "{result}");
        assert!(
            result["isError"] == true || result["error"].is_string(),
            "{result}"
        );
    }
}
