//! `serve`

mod client_model;
mod endpoint;

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent::{Models, Selection, SubAgents, ToolSet, with_session_model};
use host::{
    Argument, ArgumentRule, Arguments, ClientCallsRequest, Command, CommandContext, CommandGroup,
    Exit, Protection, ValueForm, ValueKind, program,
};
use tools::call::CallPlace;
use tools::{Host, Target, Tasks, ToolContext, counted};
use tools_mcp::server::{Peer, ServedNames, ServedTools, ServerLimits, ToolServer};

use self::client_model::ClientModel;
use self::endpoint::Endpoint;
use crate::error::McpError;

pub(crate) const SERVE: Command = Command {
    about: "Offer the tools to a client of the Model Context Protocol (MCP), such as an editor or an assistant",
    details: "Without --http, the client is the program that starts this one: messages go over standard input and output, until standard \
              input ends. Reading below the root and the clock is permitted. For other calls the client asks its user, and they are refused \
              if it cannot. Tools that ask a model get that of the client, if it has one for them. SIGTERM and Ctrl-C let running calls end \
              for a while, and then cancel them.",
    group: CommandGroup::Connect,
    rank: 60,
    examples: "serve                                             # Serve the editor that starts it
               serve --select 'fs.*' --grant 'fs:write:docs/**'  # Let the file tools write there
               serve --http 127.0.0.1:8931 --token-file token    # Serve clients that know the token",
    arguments: &[
        endpoint::HTTP,
        endpoint::TOKEN_FILE,
        endpoint::ALLOW_HOST,
        endpoint::ALLOW_ORIGIN,
        Argument::value::<NameForm>(
            ValueForm::Default("underscored"),
            "names",
            "FORM",
            "The form of the tools' names: `underscored`, such as fs_read, which all services of models take, or `dotted`, such as fs.read. \
             Clients may call either",
        ),
        Argument::Value {
            name: "max-calls",
            value: "N",
            form: ValueForm::Default("64"),
            kind: ValueKind::Text(|text| count(text).map(drop)),
            help: "Run at most this many calls of all clients at the same time",
        },
        Argument::ClientCalls,
    ],
    rules: &[
        ArgumentRule::Requires("token-file", "http"),
        ArgumentRule::Requires("allow-host", "http"),
        ArgumentRule::Requires("allow-origin", "http"),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(serve(arguments, cx).await?) })),
    ..Command::new("serve")
};

/// The form of the names that clients see.
struct NameForm(ServedNames);

impl FromStr for NameForm {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "underscored" => Ok(Self(ServedNames::Underscored)),
            "dotted" => Ok(Self(ServedNames::Dotted)),
            _ => Err("write `underscored` or `dotted`"),
        }
    }
}

fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 on".to_owned())
}

async fn serve(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let endpoint = Endpoint::new(arguments)?;
    let NameForm(form) = arguments
        .value("names")?
        .unwrap_or(NameForm(ServedNames::Underscored));
    let shutdown = cx.interruption()?;
    let target = client_model::name().target().ok();
    let request = ClientCallsRequest {
        hidden: arguments.path("token-file").into_iter().collect(),
        grants: target.iter().map(Target::to_clause).collect(),
        how_to_permit,
        cancellation: &shutdown,
    };
    let clients = cx.client_calls(request).await?;
    let context = clients.context;
    let _attached = clients.attached;
    // Nobody knows the text that the model of a client has read.
    context.record_exposure();
    let context = context.with_service(models(None));
    let mut services = context.services().clone();
    Tasks::offer_to_clients(&mut services);
    let context = context.with_services(services);
    let selection = Selection::parse(clients.select)?;
    let set = tool_set(&selection, &context);
    let calls = AtomicU64::new(0);
    let of_calls = context.clone();
    let server = ToolServer::new(select_served(&set, form)?, move |request| {
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        let host = match request.connection {
            Some(connection) => connection
                .get_or_init(|| {
                    let services = of_calls.services().for_sub_agent();
                    protect_again(of_calls.clone().with_services(services))
                })
                .clone(),
            None => {
                let mut services = of_calls.services().clone();
                Tasks::offer_for_one_call(&mut services);
                protect_again(of_calls.clone().with_services(services))
            }
        };
        let cx = host.with_service(models(Some(request.peer)));
        cx.with_place(CallPlace::new(number, 0).with_id(request.id))
    });
    let server = server
        .with_advice(clients.advice)
        .with_identity(program::name(), program::version());
    let mut limits = ServerLimits::default();
    if let Some(most) = arguments.value::<NonZeroUsize>("max-calls")? {
        limits.max_calls = most.get();
    }
    let server = server.with_limits(limits);
    let follow = follow(server.clone(), selection, context, set.clone(), form);
    let following = tokio::spawn(follow);
    let tools = counted(set.len() as u64, "tool");
    let ended = endpoint.serve(&server, &tools, shutdown, cx).await;
    following.abort();
    ended.map(|()| Exit::Success)
}

/// Returns a host with the paths that are protected now: the person may have changed settings of git, or links, since the server started.
fn protect_again(host: Host) -> Host {
    let Some(protection) = host.service::<Protection>() else {
        return host;
    };
    protection.renew(host.clone()).unwrap_or_else(|error| {
        program::warn(&format!(
            "the paths that the server found at its start are protected: {error}"
        ));
        host
    })
}

/// Returns the advice to start the server again with these words.
fn how_to_permit(words: &str) -> String {
    format!(
        "to allow it, the user adds {words} to \"args\" of this server's entry in the client's configuration, and starts the server again"
    )
}

/// Returns the models of a call: that of its client.
fn models(peer: Option<&Peer>) -> Models {
    Models::new(Arc::new(ClientModel(peer.cloned()))).with_name(client_model::name())
}

/// Returns the selected tools without those that start sub-agents: the model runs at the client.
fn tool_set(selection: &Selection, context: &ToolContext) -> ToolSet {
    let mut entries = tools::list();
    entries.retain(|entry| {
        let mut needs = entry.needs().iter();
        needs.all(|need| need.id() != TypeId::of::<SubAgents>())
    });
    let services = context.services();
    ToolSet::new(with_session_model(entries, services), selection, services)
}

fn select_served(set: &ToolSet, form: ServedNames) -> Result<ServedTools, McpError> {
    let served = ServedTools::with_names(set.list().iter().cloned(), set.clone(), form)?;
    for (name, reason) in served.left_out() {
        program::warn(&format!("{name} is not served: {reason}"));
    }
    Ok(served)
}

/// Serves the tools of the catalog as it changes.
async fn follow(
    server: ToolServer,
    selection: Selection,
    context: Host,
    mut set: ToolSet,
    form: ServedNames,
) {
    let mut changes = tools::subscribe();
    loop {
        let current = tool_set(&selection, &context);
        if current.digest() != set.digest()
            && let Ok(served) = select_served(&current, form)
        {
            server.replace_tools(served);
            set = current;
        }
        if changes.changed().await.is_none() {
            return;
        }
    }
}
