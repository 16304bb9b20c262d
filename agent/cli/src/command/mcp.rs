//! `toolcrib mcp`

mod approve;
mod change;
mod connect;
mod list;
mod login;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tools::Digest;

use crate::config::{ConfigOptions, Values};
use crate::error::Error;
use crate::exit::Exit;
use crate::mcp::Inventory;
use crate::root::RootOption;

/// List the MCP servers of your file and of the project, and add, approve, log in to, test or remove one
///
/// Your servers are in mcp.json beside the settings file, those of a project in .mcp.json in the root. Both have the format
/// `mcpServers` of other programs. A project's server neither starts nor connects before you approve it.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,

    #[command(flatten)]
    list: ListOptions,
}

#[derive(Args, Debug)]
struct ListOptions {
    #[command(flatten)]
    root: RootOption,

    /// Print the servers as JSON, one document per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// List the servers and whether sessions may use them
    List(ListOptions),
    /// Add a server, or change the one of this name: a command, or a URL with --url
    Add(AddOptions),
    /// Remove a server with its approval, the definitions of its tools and the login to it
    Remove {
        /// The name
        name: String,

        /// Remove it from the project's file
        #[arg(long)]
        project: bool,

        #[command(flatten)]
        root: RootOption,
    },
    /// Connect a server and list its tools, and whether each is approved
    Tools(ServerOptions),
    /// Connect a server, and show the revision of the protocol, the time and the number of tools
    Test(ServerOptions),
    /// Log in to a server that is reached by URL, with a browser
    ///
    /// Prints the address to open, and waits for the browser's answer on a port of this machine. Sessions use the login and renew it.
    Login(ServerOptions),
    /// Remove the login to a server
    Logout {
        /// The name
        name: String,

        #[command(flatten)]
        root: RootOption,
    },
    /// Approve a project's server, or new and changed tools of any server
    ///
    /// Asks on a terminal. Without one, --digest names what to approve, as an earlier `approve` has shown it.
    Approve {
        #[command(flatten)]
        server: ServerOptions,

        /// Approve the facts or the tools of this digest without a question; repeatable
        #[arg(long, value_name = "DIGEST")]
        digest: Vec<Digest>,

        /// Let the project's server refer to this variable of the environment; repeatable
        #[arg(long, value_name = "NAME")]
        variable: Vec<String>,
    },
}

#[derive(Args, Debug)]
struct AddOptions {
    /// The name: letters, digits, `_`, `.` and `-`
    name: String,

    /// The program and its arguments
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        conflicts_with = "url",
        required_unless_present = "url"
    )]
    command: Vec<String>,

    /// A variable of the server's environment; repeatable. ${VAR} in a value is read when the server starts
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    env: Vec<String>,

    /// The working directory of the server [default: the root]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    cwd: Option<PathBuf>,

    /// The URL of a server that is reached by streamable HTTP
    #[arg(long)]
    url: Option<String>,

    /// A header of each request, such as 'Authorization: Bearer ${TOKEN}'; repeatable
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    header: Vec<String>,

    /// The effects of a tool, or of all tools with `*`: TOOL=read_only, TOOL=pure, or TOOL= and JSON such as {"writes": ["mail:{to}"]};
    /// repeatable
    #[arg(long, value_name = "TOOL=EFFECTS", conflicts_with = "project")]
    effects: Vec<String>,

    /// Call the tools without declared effects without a question
    #[arg(long, conflicts_with = "project")]
    allow: bool,

    /// Add it to the project's file, which others may share
    #[arg(long)]
    project: bool,

    #[command(flatten)]
    root: RootOption,
}

#[derive(Args, Debug)]
struct ServerOptions {
    /// The name of the server
    name: String,

    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,
}

impl McpArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        match self.command {
            None => list::list(&self.list)?,
            Some(McpCommand::List(options)) => list::list(&options)?,
            Some(McpCommand::Add(options)) => change::add(options)?,
            Some(McpCommand::Remove {
                name,
                project,
                root,
            }) => change::remove(&name, project, &root)?,
            Some(McpCommand::Tools(server)) => list::tools(&server.connect().await?)?,
            Some(McpCommand::Test(server)) => list::test(&server.connect().await?)?,
            Some(McpCommand::Login(server)) => login::login(server).await?,
            Some(McpCommand::Logout { name, root }) => login::logout(&name, &root)?,
            Some(McpCommand::Approve {
                server,
                digest,
                variable,
            }) => {
                return approve::approve(server, &digest, variable).await;
            }
        }
        Ok(Exit::Success)
    }
}

impl ServerOptions {
    async fn connect(&self) -> Result<connect::Connected, Error> {
        let inventory = Inventory::load(&self.root)?;
        inventory.warn();
        let server = inventory.find(&self.name)?;
        connect::connect(
            &inventory,
            &server,
            &self.root,
            &self.config.settings(Values::default())?,
        )
        .await
    }
}
