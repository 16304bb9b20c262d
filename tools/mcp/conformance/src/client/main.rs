//! The client that the official conformance suite of MCP tests: a host that imports a server, calls its tools, and reads its resources
//! and prompts. Run it with `.ci/mcp-conformance`.
//!
//! The suite gives the URL as the last argument, and the calls and the client's registration in a variable.

mod browser;
mod calls;
mod user;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tools::{Grant, Host, SharedCatalog, ToolContext};
use tools_mcp::client::{HttpServer, Import, Imported, OAuthClient, Sampling, Servers};

type Failure = Box<dyn Error + Send + Sync>;

/// The maximum number of logins: the first one, and those for more scopes.
const MAX_LOGINS: usize = 3;

/// The time before the first call. The suite answers a call on the next stream that the client opens, so the stream of notifications must
/// be open before.
const PAUSE: Duration = Duration::from_millis(500);

/// The document that describes this client to authorisation servers. The suite expects this URL.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args()
        .next_back()
        .ok_or("the URL of a server is missing")?;
    let scenario: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => json!({}),
    };
    let tokens = tempfile::tempdir()?;
    let text = |name: &str| scenario[name].as_str().map(str::to_owned);
    let server = HttpServer::new(&url)?
        .with_tokens(tokens.path())
        .with_oauth_client(OAuthClient {
            id: text("client_id"),
            secret: text("client_secret"),
            document: Some(CLIENT_DOCUMENT.to_owned()),
            callback_port: None,
        });
    let mut logins = 0;
    loop {
        let outcome = session(&server, &scenario).await;
        if !server.is_login_required() || logins == MAX_LOGINS {
            return outcome;
        }
        logins += 1;
        server.log_in(browser::open).await?;
    }
}

/// Uses all that a server has, or makes the calls of a scenario.
async fn session(server: &HttpServer, scenario: &Value) -> Result<(), Failure> {
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let mut import = Import::from_http("suite".parse()?, server.clone());
    import.has_sampling = true;
    let imported = servers.import(import)?;
    let report = imported.ready().await?;
    let cx = Host::new()
        .with_grant(Grant::parse(["world:write:mcp:suite/*"])?)
        .with_person(Arc::new(user::User))
        .with_service(Sampling::new(user::echo));
    tokio::time::sleep(PAUSE).await;
    let calls = match scenario["toolCalls"].as_array() {
        Some(calls) => calls::of_scenario(calls),
        None => calls::of_tools(&catalog, &report.tools),
    };
    for (name, arguments) in calls {
        let result = catalog.execute(&cx, &name, arguments).await?;
        if result.is_error {
            return Err(result.to_text().into());
        }
    }
    read_all(&imported, &cx).await?;
    servers.remove("suite").await;
    Ok(())
}

/// Reads the resources and the prompts.
async fn read_all(imported: &Imported, cx: &ToolContext) -> Result<(), Failure> {
    for resource in imported.resources().await?.items {
        imported.read_resource(cx, &resource.uri).await?;
    }
    for prompt in imported.prompts().await?.items {
        imported.prompt(cx, &prompt.name, []).await?;
    }
    Ok(())
}
