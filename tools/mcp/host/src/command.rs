//! The command `mcp`.

mod approve;
mod change;
mod connect;
mod list;
mod login;
mod serve;

use host::{Command, CommandGroup};

pub(crate) use serve::SERVE;

pub(crate) const MCP: Command = Command {
    about: "List the MCP servers of your file and of the project, and add, approve, log in to, test or remove one",
    details: "Your servers are in mcp.json beside the settings file, those of a project in .mcp.json in the root. Both have the format \
              `mcpServers` of other programs. A project's server neither starts nor connects before you approve it.",
    group: CommandGroup::Connect,
    rank: 30,
    examples: "mcp add git uvx mcp-server-git              # Add a server that is a program
               mcp add docs --url https://mcp.example.org  # Add a server at a URL
               mcp approve git                             # Approve a server and its tools",
    arguments: list::LIST.arguments,
    commands: &[
        list::LIST,
        change::ADD,
        change::REMOVE,
        list::TOOLS,
        list::TEST,
        login::LOGIN,
        login::LOGOUT,
        approve::APPROVE,
    ],
    run: list::LIST.run,
    ..Command::new("mcp")
};
