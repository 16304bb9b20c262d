//! Resources and prompts.

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, ListResourcesResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use tools::{Content, Grant, Host, ToolErrorKind};
use tools_mcp::client::{Import, Servers, Status};

use crate::scripted::{MODERN, Scripted, imported, tool};

struct Library;

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_resources()
                .enable_prompts()
                .build(),
        )
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new("book://1", "one")
                .with_description("A\u{200b} book.")
                .with_size(4),
        ]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match params.uri.as_str() {
            "book://1" => Ok(ReadResourceResult::new(vec![ResourceContents::text(
                "body", params.uri,
            )])
            .into()),
            _ => Err(ErrorData::resource_not_found("no such book", None)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = PromptArgument::new("topic").with_required(true);
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new(
            "review",
            Some("Reviews."),
            Some(vec![argument]),
        )]))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let topic = params.arguments.unwrap_or_default()["topic"]
            .as_str()
            .unwrap()
            .to_owned();
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(
            Role::User,
            format!("Review {topic}."),
        )])
        .into())
    }
}

fn library() -> Import {
    let open = async || {
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(async { Library.serve(theirs).await.unwrap().waiting().await });
        Ok(tokio::io::split(ours))
    };
    Import::from_streams("library".parse().unwrap(), open)
}

#[tokio::test]
async fn a_resource_is_read_within_the_grant() {
    let (catalog, servers, imported) = imported(library()).await;
    let resources = imported.resources().await.unwrap().items;
    assert_eq!(
        (resources[0].uri.as_str(), resources[0].size),
        ("book://1", Some(4))
    );
    assert_eq!(catalog.names(), ["mcp.resource"]);

    let cx = Host::new().with_grant(Grant::parse(["mcp:read:library/book://*"]).unwrap());
    let read = |server: &str, uri: &str| {
        catalog.execute(&cx, "mcp.resource", json!({"server": server, "uri": uri}))
    };
    let result = read("library", "book://1").await.unwrap();
    assert!(
        matches!(&result.content[0], Content::Resource { .. }),
        "{result:?}"
    );
    let missing = read("library", "book://2").await.unwrap_err();
    assert!(missing.to_string().contains("no such book"), "{missing}");
    for (server, uri) in [("library", "file:///etc/passwd"), ("other", "book://1")] {
        let denied = read(server, uri).await.unwrap_err();
        assert!(
            matches!(denied.kind(), ToolErrorKind::PermissionDenied { .. }),
            "{denied}"
        );
    }
    let cx = Host::new().with_grant(Grant::parse(["mcp:read:**"]).unwrap());
    let absent = catalog
        .execute(
            &cx,
            "mcp.resource",
            json!({"server": "other", "uri": "book://1"}),
        )
        .await
        .unwrap_err();
    assert!(
        absent.to_string().contains("the servers are: library"),
        "{absent}"
    );
    for arguments in [
        json!({"server": "library"}),
        json!({"server": "library", "uri": ""}),
    ] {
        let listed = catalog
            .execute(&cx, "mcp.resource", arguments)
            .await
            .unwrap()
            .to_text();
        assert_eq!(listed, "book://1 (one): A<U+200B> book.");
    }
    drop(servers);
    assert!(catalog.names().is_empty());
}

#[tokio::test]
async fn a_prompt_is_made_from_its_arguments() {
    let (_catalog, _servers, imported) = imported(library()).await;
    let prompts = imported.prompts().await.unwrap().items;
    assert_eq!(
        (
            prompts[0].name.as_str(),
            prompts[0].arguments[0].is_required
        ),
        ("review", true)
    );
    let arguments = [("topic".to_owned(), "MCP".to_owned())];
    let messages = imported
        .prompt(&Host::new(), "review", arguments)
        .await
        .unwrap();
    assert_eq!(messages[0].content, Content::text("Review MCP."));
}

#[tokio::test]
async fn a_server_without_resources_or_prompts_has_empty_lists_and_no_tool_for_them() {
    let (catalog, _servers, imported) =
        imported(Scripted::new(MODERN, vec![tool("t")]).import("s")).await;
    assert!(imported.resources().await.unwrap().items.is_empty());
    assert!(
        imported
            .resource_templates()
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(imported.prompts().await.unwrap().items.is_empty());
    assert_eq!(catalog.names(), ["mcp:s/t"]);
}

#[tokio::test]
async fn resources_of_a_server_that_is_known_are_read_before_it_is_connected() {
    let catalog = tools::SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let known = Tool::new("t", "Does it.", JsonObject::new());
    let definition = tools_mcp::client::ServerTool::from_json(json!(known)).unwrap();
    let mut import = library();
    import.known = vec![("mcp:library/t".parse().unwrap(), definition)];
    import.has_resources = true;
    let imported = servers.import(import).unwrap();
    assert_eq!(
        (catalog.names().len(), imported.status()),
        (2, Status::Idle)
    );
    let cx = Host::new().with_grant(Grant::parse(["mcp:read:**"]).unwrap());
    let arguments = json!({"server": "library", "uri": "book://1"});
    catalog
        .execute(&cx, "mcp.resource", arguments)
        .await
        .unwrap();
}
