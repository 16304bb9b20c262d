//! From a configured server to its import.

use std::path::Path;
use std::sync::Arc;

use host::settings::Settings;
use host::{CommandError, folders, program};
use tools::{Grant, Host, ToolErrorKind};
use tools_exec::Prepared;
use tools_mcp::client::{HttpServer, Import, Launched, StdioServer, server_command};
use tools_mcp::config::Transport;
use tools_mcp::trust::Pins;

use crate::error::McpError;
use crate::inventory::{Configured, Inventory, Program, Resolved};

/// Headers whose values are secrets even if the file has them as they are.
const SECRET_HEADERS: [&str; 2] = [AUTHORIZATION, "proxy-authorization"];

const AUTHORIZATION: &str = "authorization";

/// The variable that tells a server that this program has started it. If it is this program too, it has no servers of its own, because
/// it could start itself without end.
pub(super) const NESTED: &str = "MCP_SERVER";

/// The folder in which Python keeps what it has compiled. Beside the code of a server, such a file could be one that a session wrote.
const BYTECODE: &str = "PYTHONPYCACHEPREFIX";

/// Returns the import of a server that is ready. Its definitions are those that the pins approve.
pub(crate) fn import(
    inventory: &Inventory,
    server: &Configured,
    resolved: Resolved,
    pins: Arc<Pins>,
    context: &dyn Fn() -> Result<Host, CommandError>,
    settings: &Settings,
) -> Result<Import, McpError> {
    let name = server.name.clone();
    let mut import = match resolved {
        Resolved {
            transport: Transport::Stdio { args, mut env, .. },
            program: Some(program),
            ..
        } => {
            let check = inventory.check_of_code(server, &program)?;
            let Program { executable, cwd } = program;
            env.insert(program::variable(NESTED), "1".to_owned());
            let state = folders::state().filter(|_| server.settings.grant.is_none());
            let folder = state.map(|state| state.join("pycache").into_os_string().into_string());
            if let Some(Ok(folder)) = folder {
                env.entry(BYTECODE.to_owned()).or_insert(folder);
            }
            let reached = match &server.settings.grant {
                None => {
                    let mut command = server_command(executable.path).with_args(args);
                    command.cwd = Some(cwd);
                    let command = env.iter().fold(command, |command, (name, value)| {
                        command.with_env(name, value)
                    });
                    StdioServer::from_launcher(server.name.as_str(), move || {
                        let launched = check().map(|()| command.clone().into());
                        std::future::ready(
                            launched.map_err(|error| ToolErrorKind::unavailable(error).into()),
                        )
                    })
                }
                Some(clauses) => {
                    let grant = Grant::parse(clauses).map_err(|error| unusable(server, error))?;
                    let cx = context()?.with_grant(grant);
                    let env = env.iter().map(|(name, value)| format!("{name}={value}"));
                    let cwd = relative(inventory.root(), &cwd);
                    confine(server, cx, &executable.path, args, env.collect(), cwd)
                }
            };
            Import::from_stdio(name, reached)
        }
        resolved => Import::from_http(name, http_server(inventory, server, resolved, settings)?),
    };
    import.review = Some(pins);
    import.call_timeout = server.entry.call_timeout;
    import.login_advice = login_advice(server);
    import.has_sampling = server.settings.sampling;
    Ok(import)
}

/// Returns the next step if the server requires a login.
fn login_advice(server: &Configured) -> String {
    match &server.entry.transport {
        Transport::Http { headers, .. }
            if headers
                .keys()
                .any(|name| name.eq_ignore_ascii_case(AUTHORIZATION)) =>
        {
            format!("it does not accept the header {AUTHORIZATION} of its entry in mcp.json")
        }
        _ => format!("run {} mcp login {}", program::name(), server.name),
    }
}

/// Returns a server that is reached by URL and may be connected.
pub(crate) fn http_server(
    inventory: &Inventory,
    server: &Configured,
    resolved: Resolved,
    settings: &Settings,
) -> Result<HttpServer, McpError> {
    let url_values = resolved.url_values;
    let Transport::Http {
        url,
        headers,
        oauth,
    } = resolved.transport
    else {
        let reason = "it is a program; only a server that is reached by URL has a login";
        return Err(McpError::unusable(&server.name, reason));
    };
    let reached = HttpServer::new(&url).map_err(|error| {
        if url_values.is_empty() {
            return unusable(server, error);
        }
        // The error has the URL.
        let reason = "its URL is not valid with the values of its variables";
        unusable(server, reason)
    })?;
    let mut reached = reached
        .with_tokens(inventory.tokens(server))
        .with_url_secrets(url_values)
        .with_oauth_client(oauth)
        .with_options(tools_http::settings::server_options(settings)?);
    for (name, value) in headers {
        let is_secret = SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str())
            || matches!(
                &server.entry.transport,
                Transport::Http { headers, .. } if headers.get(&name).is_some_and(|value| value.contains("${"))
            );
        let with = if is_secret {
            reached.with_secret(&name, &value)
        } else {
            reached.with_header(&name, &value)
        };
        reached = with.map_err(|error| unusable(server, error))?;
    }
    Ok(reached)
}

fn relative(root: &Path, cwd: &Path) -> String {
    match cwd.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        // The sandbox refuses it.
        Err(_) => cwd.to_string_lossy().into_owned(),
    }
}

/// Returns a server whose process has walls of its own at each start.
fn confine(
    server: &Configured,
    host: Host,
    program: &Path,
    args: Vec<String>,
    env: Vec<String>,
    cwd: String,
) -> StdioServer {
    let program = program.to_string_lossy().into_owned();
    let start = Arc::new((host, program, args, env, cwd));
    StdioServer::from_launcher(server.name.as_str(), move || {
        let start = start.clone();
        async move {
            let (host, program, args, env, cwd) = &*start;
            let prepared = Arc::new(Prepared::new(host, program, args, env, cwd).await?);
            // The walls end with the process.
            let walls = Arc::downgrade(&prepared);
            Ok(Launched {
                launch: prepared.launch().clone(),
                kept: prepared,
                remarks: Some(Arc::new(move || {
                    let walls = walls.upgrade();
                    walls.map(|walls| walls.remarks()).unwrap_or_default()
                })),
            })
        }
    })
}

fn unusable(server: &Configured, error: impl std::fmt::Display) -> McpError {
    let reason = format!("{error}; see {} mcp list", program::name());
    McpError::unusable(&server.name, reason)
}
