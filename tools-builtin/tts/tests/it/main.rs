//! The tests of `tts.speak`: its backends that need no program.

#![allow(clippy::unwrap_used)]

mod absent;
mod backend;
mod openai;
