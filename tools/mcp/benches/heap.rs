//! The heap that imported tools take: `cargo bench -p toolcrib-mcp --bench heap`.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers"
)]

use std::sync::atomic::{AtomicUsize, Ordering};

use peak_alloc::PeakAlloc;
use rmcp::model::{
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use tools::SharedCatalog;
use tools_mcp::client::{Import, Servers};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The number of imported tools.
const TOOLS: usize = 10_000;

/// The maximum heap of an imported tool, in bytes.
const MOST: usize = 20_000;

/// A server that makes its tools page by page, so that it keeps none of them.
struct Many;

/// The schema of a tool of a project's tracker, with a validator's work in each property.
fn schema(number: usize) -> JsonObject {
    let properties: JsonObject = (0..8)
        .map(|property| {
            let description =
                format!("The property {property} of the tool {number}, as the tracker shows it in its list.");
            let schema =
                json!({"type": "string", "description": description, "pattern": "^[a-z]+(-[a-z]+)*$", "maxLength": 40});
            (format!("property_{property}"), schema)
        })
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": ["property_0"], "additionalProperties": false});
    schema.as_object().unwrap().clone()
}

impl ServerHandler for Many {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        static PAGES: AtomicUsize = AtomicUsize::new(0);
        PAGES.fetch_add(1, Ordering::SeqCst);
        let start = params
            .and_then(|params| params.cursor)
            .map_or(0, |cursor| cursor.parse().unwrap());
        let end = start + 100;
        let tool = |number: usize| {
            Tool::new(
                format!("tool_{number}"),
                "Lists what the tracker has.",
                schema(number),
            )
        };
        let mut page = ListToolsResult::with_all_items((start..end).map(tool).collect());
        page.next_cursor = (end < TOOLS).then(|| end.to_string());
        Ok(page)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let open = async || {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async { Many.serve(theirs).await.unwrap().waiting().await });
        Ok(tokio::io::split(ours))
    };
    let before = HEAP.current_usage();
    let imported = servers
        .import(Import::from_streams("many".parse().unwrap(), open))
        .unwrap();
    let report = imported.ready().await.unwrap();
    assert_eq!((report.tools.len(), report.refused.len()), (TOOLS, 0));
    drop(report);
    let each = (HEAP.current_usage() - before) / TOOLS;
    let json = serde_json::to_string(&catalog.list()[0].tool())
        .unwrap()
        .len();
    println!(
        "{TOOLS} imported tools: {each} bytes of heap each, for definitions of {json} bytes of JSON"
    );

    let with = |name: &str| {
        let before = HEAP.current_usage();
        catalog
            .validate(name, json!({"property_0": "a-b"}))
            .unwrap();
        HEAP.current_usage() - before
    };
    // The first one of the process also builds what all share.
    with("mcp:many/tool_1");
    println!(
        "the validator of one, built at its first call: {} bytes",
        with("mcp:many/tool_2")
    );
    assert!(each < MOST, "more than {MOST} bytes");
}
