//! [`Client`]: the messages that a server sends of its own accord.

use std::sync::Arc;

use rmcp::model::{
    self, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, Implementation, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use tools::{Progress, ToolContext, visible_line};

use crate::client::elicitation::elicit;
use crate::client::imported::{Imported, show_text};
use crate::client::result::plain;
use crate::client::sampling::{Refused, sample};

/// Answers an imported server.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) imported: Arc<Imported>,
}

/// The error code of a request that the user rejects, as in the specification's examples.
const REJECTED: i32 = -1;

impl Client {
    /// Returns the context of the call that a request of the server belongs to.
    fn caller(&self, context: &RequestContext<RoleClient>) -> Option<ToolContext> {
        match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => self.imported.calls.caller(Some(id)),
            Some(InboundStreamOrigin::Unassociated) | None => self.imported.calls.caller(None),
        }
    }
}

#[expect(deprecated, reason = "revision 2025-11-25 has log messages")]
impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let elicitation = ElicitationCapability::new()
            .with_form(Default::default())
            .with_url(Default::default());
        capabilities.elicitation = Some(elicitation);
        let tasks = model::TASKS_EXTENSION_ID.to_owned();
        capabilities.extensions = Some([(tasks, model::JsonObject::new())].into());
        if self.imported.import.has_sampling {
            capabilities.sampling = Some(model::SamplingCapability::default());
        }
        let own = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, own).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let caller = self.caller(&context);
        let asking = elicit(self.imported.name(), caller.as_ref(), params);
        // The server may cancel its question.
        let answer = context.ct.run_until_cancelled(asking).await;
        Ok(answer.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel)))
    }

    async fn create_message(
        &self,
        params: model::CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<model::CreateMessageResult, ErrorData> {
        let caller = self.caller(&context);
        let sampling = sample(&self.imported, caller.as_ref(), params);
        let outcome = context.ct.run_until_cancelled(sampling).await;
        let outcome =
            outcome.unwrap_or_else(|| Err(Refused("the request was cancelled".to_owned())));
        outcome.map_err(|Refused(reason)| ErrorData::new(ErrorCode(REJECTED), reason, None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let message = params.message.map(|message| show_text(&message));
        let progress = Progress {
            done: Some(params.progress),
            total: params.total,
            message,
        };
        let calls = &self.imported.calls;
        calls.report(&params.progress_token, progress).await;
    }

    async fn on_logging_message(
        &self,
        params: model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let server = self.imported.name().as_str();
        let logger = params.logger.map(|logger| visible_line(&logger, 80));
        let message = show_text(&plain(&params.data));
        match params.level {
            model::LoggingLevel::Debug => tracing::debug!(server, logger, "{message}"),
            model::LoggingLevel::Info | model::LoggingLevel::Notice => {
                tracing::info!(server, logger, "{message}")
            }
            model::LoggingLevel::Warning => tracing::warn!(server, logger, "{message}"),
            _ => tracing::error!(server, logger, "{message}"),
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.imported.expire_list();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.imported.lists.prompts.expire();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.imported.lists.expire_resources();
    }
}
