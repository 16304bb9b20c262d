//! Requests whose parameters are not those of their method. `rmcp` takes them for methods that it does not know.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetTaskParams,
    InitializeRequestParams, ReadResourceRequestParams, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::server::handler::{Generation, Handler};

/// A reader of the parameters of a method that must have some, which returns the reason why they do not fit.
type Check = fn(Value) -> Option<String>;

impl Handler {
    /// Answers a request that `rmcp` could not read.
    pub(super) async fn unread(
        &self,
        request: CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let mut params = params.unwrap_or_else(|| json!({}));
        if method == "tools/call"
            && let Some(arguments) = params.get_mut("arguments").map(Value::take)
            && !arguments.is_object()
            && let Some(fields) = params.as_object_mut()
        {
            fields.remove("arguments");
            if let Ok(request) = serde_json::from_value::<CallToolRequestParams>(params.clone()) {
                // The pipeline refuses them as it refuses other arguments that do not fit.
                let CallToolResponse::Complete(result) =
                    self.call(request, Some(arguments), context).await?
                else {
                    return Err(ErrorData::invalid_params(
                        "the arguments are no object",
                        None,
                    ));
                };
                return serde_json::to_value(result)
                    .map(CustomResult::new)
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None));
            }
        }
        match self.check(&method, Generation::of(context)) {
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
            Some(check) => {
                let reason = check(params)
                    .unwrap_or_else(|| "they are those of another revision".to_owned());
                let message = format!("the parameters of {method} do not fit: {reason}");
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    /// Returns the reader of a method's parameters. Returns `None` if the server does not have the method in this generation.
    fn check(&self, method: &str, generation: Generation) -> Option<Check> {
        let others: &[&str] = match generation {
            Generation::Legacy => &[
                "subscriptions/listen",
                "tasks/get",
                "tasks/update",
                "tasks/cancel",
            ],
            Generation::Modern => &[
                "initialize",
                "logging/setLevel",
                "resources/subscribe",
                "resources/unsubscribe",
            ],
        };
        let check: Check = match method {
            method if others.contains(&method) => return None,
            "initialize" => check::<InitializeRequestParams>,
            "subscriptions/listen" => check::<SubscriptionsListenRequestParams>,
            "logging/setLevel" => check::<SetLevelRequestParams>,
            "tools/call" => check::<CallToolRequestParams>,
            "tasks/get" => check::<GetTaskParams>,
            "tasks/update" => check::<UpdateTaskParams>,
            "tasks/cancel" => check::<CancelTaskParams>,
            _ => {
                let capability = method.split('/').next().unwrap_or_default();
                let capability = if capability == "completion" {
                    "completions"
                } else {
                    capability
                };
                let capabilities = self.options.methods.as_ref()?.capabilities();
                if !capabilities.contains_key(capability) {
                    return None;
                }
                match method {
                    "completion/complete" => check::<CompleteRequestParams>,
                    "prompts/get" => check::<GetPromptRequestParams>,
                    "resources/read" => check::<ReadResourceRequestParams>,
                    "resources/subscribe" => check::<SubscribeRequestParams>,
                    "resources/unsubscribe" => check::<UnsubscribeRequestParams>,
                    _ => return None,
                }
            }
        };
        Some(check)
    }
}

fn check<T: DeserializeOwned>(params: Value) -> Option<String> {
    serde_json::from_value::<T>(params)
        .err()
        .map(|error| error.to_string())
}
