//! Tests of the public API of `toolcrib-protocol`.

#![allow(clippy::unwrap_used)]

mod clause;
mod commands;
mod corpus;
mod derived;
mod digest;
mod effects;
mod foreign_effects;
mod grant;
mod host;
mod name;
mod pattern;
mod round_trip;
mod sample;
mod sdk;
mod special_options;
mod special_words;
mod target;
mod wire;
mod words;
