//! Tools, calls and results in the formats of model services and MCP.

mod anthropic;
mod call;
mod definition;
mod exchange;
mod format;
mod gemini;
mod mcp;
mod name;
mod name_table;
mod ollama;
mod openai_chat;
mod openai_responses;
mod piece;
mod render;
pub mod schema;
mod shown_result;
mod strict_limits;

pub use call::{InvalidCall, WireCall, WireResult};
pub use definition::WireTool;
pub use format::{Format, FormatCell, Strictness};
pub use name::NameGrammar;
pub use name_table::{NameCollision, WireNames};
pub use shown_result::ShownResult;
pub use strict_limits::StrictLimits;
