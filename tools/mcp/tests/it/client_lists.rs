//! Lists of prompts and resources, which are read on demand, kept and followed.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    ErrorData, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    PaginatedRequestParams, Prompt, ProtocolVersion, Resource, ResourceTemplate,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use tokio::sync::watch;
use tools_mcp::client::{Import, Imported};

use crate::scripted::{BOTH, imported};

/// A server whose items are named after its state, and that reports changes of it.
#[derive(Clone)]
struct Shelf {
    revision: ProtocolVersion,
    state: watch::Sender<&'static str>,
    ttl_ms: Option<u64>,
    lists: Arc<AtomicUsize>,
}

impl Shelf {
    fn new(revision: ProtocolVersion, ttl_ms: Option<u64>) -> Self {
        Self {
            revision,
            state: watch::Sender::new("old"),
            ttl_ms,
            lists: Arc::default(),
        }
    }

    fn import(&self) -> Import {
        let shelf = self.clone();
        let open = move || {
            let shelf = shelf.clone();
            async move {
                let (ours, theirs) = tokio::io::duplex(4096);
                tokio::spawn(async { shelf.serve(theirs).await.unwrap().waiting().await });
                Ok(tokio::io::split(ours))
            }
        };
        Import::from_streams("shelf".parse().unwrap(), open)
    }

    /// Counts a list and returns the name of its item.
    fn name(&self) -> &'static str {
        self.lists.fetch_add(1, Ordering::SeqCst);
        *self.state.borrow()
    }

    fn lists(&self) -> usize {
        self.lists.load(Ordering::SeqCst)
    }
}

impl ServerHandler for Shelf {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_resources()
            .enable_prompts()
            .build();
        capabilities.prompts.get_or_insert_default().list_changed = Some(true);
        capabilities.resources.get_or_insert_default().list_changed = Some(true);
        ServerConfig::new(capabilities)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        vec![self.revision.clone()].into()
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result =
            ListPromptsResult::with_all_items(vec![Prompt::new(self.name(), None::<&str>, None)]);
        result.ttl_ms = self.ttl_ms;
        Ok(result)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result =
            ListResourcesResult::with_all_items(vec![Resource::new("book://1", self.name())]);
        result.ttl_ms = self.ttl_ms;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = vec![ResourceTemplate::new("book://{n}", self.name())];
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        result.ttl_ms = self.ttl_ms;
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut state = self.state.subscribe();
        tokio::spawn(async move {
            while state.changed().await.is_ok()
                && context.peer.notify_prompt_list_changed().await.is_ok()
                && context.peer.notify_resource_list_changed().await.is_ok()
            {}
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut state = self.state.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                _ = state.changed() => {
                    let _ = context.sink().notify_prompt_list_changed().await;
                    let _ = context.sink().notify_resource_list_changed().await;
                }
            }
        }
    }
}

/// Returns the names in the three lists.
async fn names(imported: &Imported) -> [String; 3] {
    [
        imported.prompts().await.unwrap().items[0].name.clone(),
        imported.resources().await.unwrap().items[0].name.clone(),
        imported.resource_templates().await.unwrap().items[0]
            .name
            .clone(),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_list_is_kept_while_it_is_fresh() {
    for revision in BOTH {
        for (ttl_ms, expected) in [(Some(60_000), [3, 6]), (Some(0), [6, 9]), (None, [6, 9])] {
            let shelf = Shelf::new(revision.clone(), ttl_ms);
            let (_catalog, _servers, imported) = imported(shelf.import()).await;
            let mut lists = Vec::new();
            for _ in 0..2 {
                names(&imported).await;
            }
            lists.push(shelf.lists());
            tokio::time::sleep(Duration::from_secs(61)).await;
            names(&imported).await;
            lists.push(shelf.lists());
            assert_eq!(lists, expected, "{revision} {ttl_ms:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_report_of_a_change_ends_the_freshness() {
    for revision in BOTH {
        let shelf = Shelf::new(revision.clone(), Some(u64::from(u32::MAX)));
        let (_catalog, _servers, imported) = imported(shelf.import()).await;
        assert_eq!(names(&imported).await, ["old"; 3]);
        shelf.state.send_replace("new");
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(names(&imported).await, ["new"; 3], "{revision}");
        assert_eq!(names(&imported).await, ["new"; 3], "{revision}");
        assert_eq!(shelf.lists(), 6);
    }
}
