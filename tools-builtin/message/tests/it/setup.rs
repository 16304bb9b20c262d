//! Channels and calls of the tests.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tools::{Secret, ToolError};
use tools_http::{HttpClient, HttpOptions};
use tools_message::{ChannelSettings, Channels};
use tools_testkit::TestHost;
use tools_testkit::http::TestResolver;

/// The hosts of the tests: the grant names them.
pub(crate) const GRANT: [&str; 4] = [
    "message:write:**",
    "net:write:127.0.0.1:*",
    "net:write:mail.example:*",
    "net:write:hook.example:*",
];

/// Returns the options of a client that may reach the servers of the tests.
pub(crate) fn options() -> HttpOptions {
    HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        ..HttpOptions::default()
    }
}

/// Returns options in which a name leads to a server.
pub(crate) fn named(name: &str, address: SocketAddr) -> HttpOptions {
    HttpOptions {
        private_hosts: vec!["127.0.0.1".to_owned(), name.to_owned()],
        resolver: Some(Arc::new(TestResolver::new().with_name(name, address))),
        ..HttpOptions::default()
    }
}

/// Returns a host with one channel.
pub(crate) fn host(
    name: &str,
    kind: &str,
    settings: &ChannelSettings,
    options: HttpOptions,
) -> TestHost {
    let channel = (tools_message::kind(kind).unwrap().create)(settings).unwrap();
    let client = HttpClient::from_options(options).unwrap();
    let channels = Channels::new().with_channel(name, channel, client).unwrap();
    let mut catalog = tools::Catalog::new();
    tools_message::register(&mut catalog).unwrap();
    TestHost::new(catalog)
        .with_grant(&GRANT)
        .with_service(channels)
}

/// Returns the settings of a webhook.
pub(crate) fn webhook(url: &str) -> ChannelSettings {
    ChannelSettings::new().with_secret("url", Secret::new(url))
}

/// Returns the settings of a mailbox without encryption.
pub(crate) fn mailbox(address: SocketAddr) -> ChannelSettings {
    ChannelSettings::new()
        .with_text("server", address.ip().to_string())
        .with_text("port", address.port().to_string())
        .with_text("encryption", "none")
        .with_text("from", "Crib <crib@example.org>")
        .with_list(
            "to",
            ["Ada <ada@example.org>", "bob@example.org"].map(str::to_owned),
        )
}

/// Sends a text to the channel `out`.
pub(crate) async fn send(host: &TestHost, text: &str) -> Result<String, ToolError> {
    call(host, json!({"channel": "out", "text": text})).await
}

/// Calls `message.send`.
pub(crate) async fn call(host: &TestHost, arguments: Value) -> Result<String, ToolError> {
    host.call("message.send", arguments)
        .await
        .map(|result| result.to_text())
}
