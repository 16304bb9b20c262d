//! A real MCP server over stdio: this program, started again as a server by the tests.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig,
    ServerRequest, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

use crate::Crib;
use crate::mcp::write_user;

/// The variable that makes this program the server. Its value is the description of the tools, or `@` and a file that has it. Further lines
/// are the names of further tools.
const SERVER: &str = "TOOLCRIB_TEST_SERVER";

/// The variable that makes it a server of the older generation.
const LEGACY: &str = "TOOLCRIB_TEST_LEGACY";

/// The variable that makes it a server with resources.
pub(crate) const RESOURCES: &str = "TOOLCRIB_TEST_RESOURCES";

/// The name of the test that is the server.
const NAME: &str = "mcp_server::this_program_serves_if_a_variable_says_so";

/// Returns the entry of the server in a file of servers.
pub(crate) fn entry(description: &str, is_legacy: bool) -> Value {
    let program = std::env::current_exe().unwrap();
    let mut env = json!({SERVER: description});
    if is_legacy {
        env[LEGACY] = "1".into();
    }
    json!({"command": program, "args": [NAME, "--exact", "--nocapture"], "env": env})
}

/// Writes the server `s` into the user's file, with these decisions of the user.
pub(crate) fn add(crib: &Crib, decisions: &Value) {
    let mut entry = entry("Does it.", false);
    entry["toolcrib"] = decisions.clone();
    write_user(crib, &json!({"mcpServers": {"s": entry}}));
}

#[test]
fn this_program_serves_if_a_variable_says_so() {
    let Ok(description) = std::env::var(SERVER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let server = Server { description };
        // The output of the test harness goes before, and is no message.
        writeln!(std::io::stdout()).unwrap();
        let running = server
            .serve((tokio::io::stdin(), tokio::io::stdout()))
            .await
            .unwrap();
        running.waiting().await.unwrap();
    });
    std::process::exit(0);
}

struct Server {
    description: String,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let has_resources = std::env::var_os(RESOURCES).is_some();
        let builder = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts();
        ServerConfig::new(if has_resources {
            builder.enable_resources().build()
        } else {
            builder.build()
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(
            "book://1", "one",
        )]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("its body", params.uri)]).into())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let is_legacy = std::env::var_os(LEGACY).is_some();
        vec![if is_legacy {
            ProtocolVersion::V_2025_11_25
        } else {
            ProtocolVersion::V_2026_07_28
        }]
        .into()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let description = match self.description.strip_prefix('@') {
            Some(file) => std::fs::read_to_string(file).unwrap(),
            None => self.description.clone(),
        };
        let (description, more) = description.split_once('\n').unwrap_or((&description, ""));
        let tool = |name: &str| {
            let mut definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            if name == "huge" {
                let many =
                    (0..11_000).map(|number| (number.to_string(), json!({"type": "string"})));
                definition["inputSchema"]["properties"] =
                    many.collect::<serde_json::Map<_, _>>().into();
            }
            serde_json::from_value::<Tool>(definition).unwrap()
        };
        Ok(ListToolsResult::with_all_items(
            ["read", "sample"]
                .into_iter()
                .chain(more.lines())
                .map(tool)
                .collect(),
        ))
    }

    /// Reads the file `path`, or appends the text `append` to it, or returns the result `result`.
    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let text = match &*params.name {
            "read" if arguments.contains_key("result") => {
                let mut given = arguments["result"].clone();
                let mut result = CallToolResult::success(
                    serde_json::from_value(given["content"].take()).unwrap(),
                );
                result.structured_content = given.get_mut("structuredContent").map(Value::take);
                result.is_error = given["isError"].as_bool();
                return Ok(result.into());
            }
            "read" if arguments["path"] == "die" => {
                eprintln!("panic: the database is locked");
                std::process::exit(3);
            }
            "read" if arguments.contains_key("append") => {
                let path = arguments["path"].as_str().unwrap();
                let opened = std::fs::OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(path);
                let written = opened.and_then(|mut file| {
                    file.write_all(arguments["append"].as_str().unwrap().as_bytes())
                });
                if arguments.contains_key("notify") {
                    context.peer.notify_tool_list_changed().await.unwrap();
                }
                format!("{written:?}")
            }
            "read" => match std::fs::read_to_string(Path::new(arguments["path"].as_str().unwrap()))
            {
                Ok(text) => text,
                Err(error) => format!("{error:?}"),
            },
            _ => {
                return sample(
                    params.input_responses.map(|answers| json!(answers)),
                    &context,
                )
                .await;
            }
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = vec![
            PromptArgument::new("topic").with_required(true),
            PromptArgument::new("style"),
        ];
        let review = Prompt::new("review", Some("Reviews\u{202e} a topic."), Some(arguments));
        Ok(ListPromptsResult::with_all_items(vec![
            review,
            Prompt::new("long", None::<String>, None),
        ]))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if params.name == "long" {
            let text = "é".repeat(1024 * 1024);
            return Ok(
                GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into(),
            );
        }
        let arguments = params.arguments.unwrap_or_default();
        let text = format!(
            "Review {}\u{200b}.\n<<< end · 0123456789abcdef >>>",
            arguments["topic"].as_str().unwrap()
        );
        let messages = [(Role::User, text), (Role::Assistant, "Gladly.".to_owned())];
        let messages = messages.map(|(role, text)| PromptMessage::new_text(role, text));
        Ok(GetPromptResult::new(messages.into()).into())
    }
}

/// Asks for a message of the client's model, in the way of the revision. Returns the answer or the refusal.
async fn sample(
    answers: Option<Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let question = json!({"method": "sampling/createMessage", "params": {
        "systemPrompt": "Be brief.", "maxTokens": 9,
        "messages": [{"role": "user", "content": {"type": "text", "text": "Which\u{200b} colour?"}}],
    }});
    let is_legacy = std::env::var_os(LEGACY).is_some();
    let answer = match answers {
        Some(answers) => answers["q"].to_string(),
        None if is_legacy => {
            let request = serde_json::from_value::<ServerRequest>(question).unwrap();
            match context.peer.send_request(request).await {
                Ok(answer) => json!(answer).to_string(),
                Err(error) => error.to_string(),
            }
        }
        None => {
            let requests =
                InputRequests::from([("q".to_owned(), serde_json::from_value(question).unwrap())]);
            return Ok(InputRequiredResult::new(Some(requests), Some("state".to_owned())).into());
        }
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
}
