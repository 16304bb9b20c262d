//! `weather.get` against a server that has the names and the TLS of the service.

#![allow(clippy::unwrap_used)]

mod answers;
mod faults;
mod places;
mod service;
