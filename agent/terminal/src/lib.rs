#![doc = include_str!("../README.md")]

mod console;
mod dialogue;
mod editor;
mod input;
pub mod keyboard;
mod line;
mod live;
pub mod markdown;
mod quote;
mod status_hint;
mod status_lines;
pub mod stderr;
pub mod stdout;
pub mod suspend;
mod suspend_key;

pub use console::{Console, HiddenTyping, OpenQuestion};
pub use dialogue::{Dialogue, confirm, has_person};
pub use input::{Input, MAX_LINE_BYTES};
pub use line::{Completion, InputOptions, Line};
pub use quote::mark_rows;
pub use status_lines::{FRAME_INTERVAL, Wait};
