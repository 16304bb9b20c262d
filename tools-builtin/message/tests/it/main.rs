//! `message.send` to real channels on loopback.

#![allow(clippy::unwrap_used)]

mod email;
mod email_text;
mod file;
mod reply;
mod secret;
mod setup;
mod smtp;
mod unclear;
mod webhook;
