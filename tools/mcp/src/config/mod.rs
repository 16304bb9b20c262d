//! The servers that users write down: the JSON of `mcpServers`, as `.mcp.json` and other programs have it.
//!
//! ```
//! use tools_mcp::config::{McpFile, Transport, Variables};
//!
//! let text = r#"{"mcpServers": {"files": {"command": "file-server", "args": ["${HOME}", "${MODE:-fast}"]}}}"#;
//! let file = McpFile::from_text("mcp.json", text)?;
//! let entry = file.server("files")?.unwrap();
//! let variables = Variables::all([("HOME".to_owned(), "/home/me".to_owned())]);
//! let Transport::Stdio { args, .. } = entry.expand(&variables)? else { unreachable!() };
//! assert_eq!(args, ["/home/me", "fast"]);
//! # Ok::<(), tools_mcp::config::ConfigError>(())
//! ```

mod entry;
mod error;
mod expansion;
mod fields;
mod file;
mod remarks;
mod settings;

pub use entry::{ServerEntry, Transport};
pub use error::ConfigError;
pub use expansion::Variables;
pub use file::{FileOwner, McpFile};
pub use remarks::EffectsRemark;
pub use settings::ServerSettings;
