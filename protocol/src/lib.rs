#![doc = include_str!("../README.md")]

mod access;
mod call;
mod canonical;
mod clause;
mod content;
mod digest;
mod effects;
mod example;
mod grant;
mod limits;
mod message;
mod name;
mod normalise;
mod present;
mod result;
mod target;
mod template;
mod tool;
pub mod wire;

pub use access::{Access, UnknownAccess};
pub use call::ToolCall;
pub use canonical::canonical_json;
pub use clause::{Clause, InvalidClause};
pub use content::{Content, ResourceContents};
pub use digest::{Digest, InvalidDigest};
pub use effects::{Declared, Effects, EffectsError, TargetError};
pub use example::Example;
pub use grant::Grant;
pub use limits::{Limits, Rate};
pub use message::{Message, Part, Role};
pub use name::{InvalidName, ToolName};
pub use normalise::Normaliser;
pub use result::ToolResult;
pub use target::{InvalidTarget, Target};
pub use template::{InvalidTemplate, Template};
pub use tool::Tool;
