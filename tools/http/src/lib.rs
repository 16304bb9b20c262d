#![doc = include_str!("../README.md")]

mod address;
mod answer;
mod body;
mod bounds;
mod cache;
mod chain;
mod client;
mod connection;
mod connections;
mod dial;
mod encryption;
mod error;
mod exchange;
mod failure;
mod headers;
mod hop;
mod limits;
mod location;
mod mask;
mod options;
mod proxy;
mod redirect;
mod request;
mod resolver;
mod response;
mod secret;
pub mod server;
mod shown;
mod slots;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;

pub use bytes::Bytes;
pub use client::HttpClient;
pub use connection::Connection;
pub use error::HttpError;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
pub use limits::HttpLimits;
pub use options::HttpOptions;
pub use proxy::Proxy;
pub use request::Request;
pub use resolver::{Resolver, ResolverFuture};
pub use response::Response;
pub use secret::BoundSecret;
pub use stream::ResponseStream;
pub use url::Url;
