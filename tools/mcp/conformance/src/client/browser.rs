//! The browser of a person who agrees to each login.

use tools::{Grant, Host};
use tools_http::{HttpClient, HttpOptions, Request};

use crate::Failure;

/// Opens the page of an authorisation server, which leads back to the client at once.
pub(crate) fn open(url: &str) {
    let url = url.to_owned();
    tokio::spawn(async move {
        if let Err(error) = browse(&url).await {
            eprintln!("{url}: {error}");
        }
    });
}

async fn browse(url: &str) -> Result<(), Failure> {
    let options = HttpOptions {
        private_hosts: vec!["127.0.0.1".into(), "localhost".into()],
        ..HttpOptions::default()
    };
    let cx = Host::new().with_grant(Grant::parse([
        "net:read:127.0.0.1:*",
        "net:read:localhost:*",
    ])?);
    HttpClient::from_options(options)?
        .send(&cx, Request::get(url)?)
        .await?;
    Ok(())
}
