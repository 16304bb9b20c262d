//! [`Client`]: the messages that a server sends of its own accord.

use std::sync::Arc;

use rmcp::model::{
    self, ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tools::{Progress, visible_line};

use super::link::{Link, shown};

/// Answers the server of a link.
#[derive(Clone)]
pub(super) struct Client {
    link: Arc<Link>,
}

impl Client {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self { link }
    }
}

#[expect(deprecated, reason = "revision 2025-11-25 has log messages")]
impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("toolcrib", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let message = params.message.map(|message| shown(&message));
        let progress = Progress { done: Some(params.progress), total: params.total, message };
        self.link.calls.report(&params.progress_token, progress).await;
    }

    async fn on_logging_message(&self, params: model::LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let server = self.link.name().as_str();
        let logger = params.logger.as_deref().map(|logger| visible_line(logger, 80));
        let message = shown(params.data.as_str().unwrap_or(&params.data.to_string()));
        match params.level {
            model::LoggingLevel::Debug => tracing::debug!(server, logger, "{message}"),
            model::LoggingLevel::Info | model::LoggingLevel::Notice => tracing::info!(server, logger, "{message}"),
            model::LoggingLevel::Warning => tracing::warn!(server, logger, "{message}"),
            _ => tracing::error!(server, logger, "{message}"),
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.link.changed.notify_one();
    }
}
