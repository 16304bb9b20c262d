//! `acp`

use host::{Argument, Command, CommandContext, CommandError, CommandGroup, Exit, program};

use crate::server::EditorServer;

pub(crate) const ACP: Command = Command {
    about: "Run sessions for an editor that speaks the Agent Client Protocol (ACP)",
    details: "The editor starts this command: messages go over standard input and output, until standard input ends. Each session has the \
              folder that the editor names as its root, with the settings there. The editor asks its user about calls that need an approval.",
    group: CommandGroup::Connect,
    rank: 65,
    examples: "acp                                  # Run sessions for the editor that starts it
               acp --provider ollama --model qwen3   # With a local model
               acp --grant 'fs:write:docs/**'       # Let the file tools write there without a question",
    arguments: &[Argument::Sessions],
    run: Some(|_, cx| Box::pin(acp(cx))),
    ..Command::new("acp")
};

async fn acp(cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let failed = |error| CommandError::new(Exit::Failed, error);
    let shutdown = cx.interruption()?;
    let sessions = cx.sessions()?;
    let (read, write) = tools_mcp::server::standard_streams().map_err(failed)?;
    let server = EditorServer::new(sessions, program::name(), program::version());
    server
        .serve_streams(read, write, shutdown)
        .await
        .map_err(failed)?;
    Ok(Exit::Success)
}
