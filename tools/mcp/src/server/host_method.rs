//! Answers the methods of a host.

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, InputRequiredResult};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::server::drive::Driven;
use crate::server::handler::Handler;
use crate::server::peer::Peer;
use crate::server::running::{AskedOf, Finished, Running};

impl Handler {
    /// Answers a method of the host by its result, or by the input that it requires.
    pub(super) async fn method<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<T, InputRequiredResult>, ErrorData> {
        let internal =
            |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
        let Some(methods) = &self.options.methods else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        };
        let mut params = serde_json::to_value(params).map_err(internal)?;
        let answers = take(&mut params, "inputResponses");
        let state = take(&mut params, "requestState");
        let answers = answers.map(serde_json::from_value).transpose();
        let answers = answers.map_err(internal)?.unwrap_or_default();
        let asked = AskedOf {
            method,
            name: String::new(),
            params: params.clone().into(),
        };
        let running = match state {
            Some(state) => {
                self.resume(state.as_str().unwrap_or_default(), &asked, answers)
                    .await?
            }
            None => {
                let Some(permit) = self.options.calls.begin() else {
                    let message = "too many requests; try again later";
                    return Err(ErrorData::internal_error(message, None));
                };
                let capabilities = context.client_capabilities().unwrap_or_default();
                let peer = Peer::new(capabilities, false, answers, permit.clone());
                let work = methods.call(method, params, peer.0.clone());
                let work = Box::pin(async {
                    work.await.map(Finished::Method).map_err(|error| {
                        ErrorData::new(ErrorCode(error.code), error.message, error.data)
                    })
                });
                let token = tools::CancellationToken::new();
                let tracked = self.calls.running.token();
                Running::new(asked, peer, token, (permit, tracked), work)
            }
        };
        match Box::pin(self.drive(running, false, context)).await? {
            Driven::Ended(Finished::Method(mut value)) => {
                // `rmcp` takes it out for clients of older revisions.
                if let Some(fields) = value.as_object_mut() {
                    fields
                        .entry("resultType")
                        .or_insert_with(|| "complete".into());
                }
                Ok(Ok(serde_json::from_value(value).map_err(internal)?))
            }
            Driven::InputRequired(required) => Ok(Err(required)),
            Driven::Ended(Finished::Call(_)) | Driven::Task(_) => {
                Err(ErrorData::internal_error("the method has no result", None))
            }
        }
    }

    /// Answers a method of the host that may not require input.
    pub(super) async fn plain_method<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let answer = self.method(method, params, context).await?;
        answer.map_err(|_| ErrorData::internal_error("this method cannot require input", None))
    }
}

fn take(params: &mut Value, key: &str) -> Option<Value> {
    params.as_object_mut()?.remove(key)
}
