//! The contents of a project that wait for a person's eyes: settings, and instructions for agents.
//!
//! A program that a session runs can write such files. Each content is therefore approved once, by its digest. `toolcrib trust` lists
//! all of them.

mod unapproved;

pub(crate) use unapproved::{page, tell_exposure, tell_narrowing};
