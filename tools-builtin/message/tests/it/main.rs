//! `message.send` to real channels on loopback.

#![allow(clippy::unwrap_used)]

mod email;
mod email_text;
mod file;
mod follow;
mod inbox;
mod listen;
mod reply;
mod secret;
mod setup;
mod smtp;
mod unclear;
mod webhook;
