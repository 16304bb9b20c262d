#![doc = include_str!("../README.md")]

mod agent_tool;

pub use agent_tool::tools;
