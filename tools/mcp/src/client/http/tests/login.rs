//! A login with an authorisation server on loopback.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient as _, StreamableHttpPostResponse as Answer,
};
use serde_json::json;
use tools::{Grant, Host};
use tools_http::{HttpClient, HttpOptions, Request, Url};
use tools_testkit::http::{Received, TestServer};

use super::super::HttpServer;
use super::super::oauth::LoginError;
use super::super::requests::Failure;
use super::site::{self, Site};

async fn site_with(page: &'static str) -> Site {
    site::start(page, |_| TestServer::head("202 Accepted", &[])).await
}

async fn site() -> Site {
    site_with("{origin}/authorize").await
}

/// Requests a URL of this machine as a browser does.
async fn browse(url: &str) {
    let client = HttpClient::from_options(HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        ..HttpOptions::default()
    })
    .unwrap();
    let cx = Host::new().with_grant(Grant::parse(["net:read:127.0.0.1:*"]).unwrap());
    client.send(&cx, Request::get(url).unwrap()).await.unwrap();
}

impl Site {
    /// Logs in by a browser that answers with this query, in which `{state}` stands for the state.
    async fn log_in(
        &self,
        mcp: &HttpServer,
        answers: &'static [&'static str],
    ) -> Result<(), LoginError> {
        mcp.log_in(|url| {
            let query: HashMap<_, _> = Url::parse(url)
                .unwrap()
                .query_pairs()
                .into_owned()
                .collect();
            assert_eq!(
                (&*query["code_challenge_method"], &*query["client_id"]),
                ("S256", "client-1")
            );
            *self.challenge.lock().unwrap() = query["code_challenge"].clone();
            tokio::spawn(async move {
                for answer in answers {
                    let answer = answer.replace("{state}", &query["state"]);
                    browse(&format!("{}?{answer}", query["redirect_uri"])).await;
                }
            });
        })
        .await
    }

    fn mcp_requests(&self) -> Vec<Received> {
        self.server
            .received()
            .into_iter()
            .filter(|request| request.path() == "/mcp")
            .collect()
    }
}

/// Sends a message with the stored tokens.
async fn post(mcp: &HttpServer) -> Result<Answer, Failure> {
    let client = AuthClient::new(mcp.requests().unwrap(), mcp.authorisation().await.unwrap());
    let message: ClientJsonRpcMessage =
        serde_json::from_value(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .unwrap();
    client
        .post_message(
            Arc::from(mcp.url.as_str()),
            message,
            None,
            None,
            HashMap::new(),
        )
        .await
}

#[tokio::test]
async fn a_login_stores_tokens_for_the_owner_alone_which_are_sent_refreshed_and_removed() {
    let (site, folder) = (site().await, tempfile::tempdir().unwrap());
    let folder = folder.path().join("state/tokens");
    let mcp = HttpServer::new(&site.server.url("/mcp"))
        .unwrap()
        .with_tokens(&folder);
    assert!(matches!(post(&mcp).await, Err(Failure::AuthRequired(_))));
    // Another program of this machine, and a person who refuses in another window, do not end the login.
    site.log_in(
        &mcp,
        &[
            "code=evil",
            "code=evil&state=other",
            "code=the-code&state={state}",
        ],
    )
    .await
    .unwrap();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    assert_eq!(
        (files.len(), mode(&files[0]), mode(&folder)),
        (1, 0o600, 0o700)
    );
    assert!(matches!(post(&mcp).await, Ok(Answer::Accepted)));
    assert_eq!(
        site.mcp_requests().last().unwrap().header("authorization"),
        Some("Bearer access-token-1")
    );
    // The server no longer takes the token.
    site.token.lock().unwrap().0 = "another".to_owned();
    assert!(matches!(post(&mcp).await, Ok(Answer::Accepted)));
    assert_eq!(
        site.mcp_requests().last().unwrap().header("authorization"),
        Some("Bearer access-token-2")
    );
    assert!(
        std::fs::read_to_string(&files[0])
            .unwrap()
            .contains("access-token-2")
            && mode(&files[0]) == 0o600
    );
    // Tokens that others can read are not used.
    std::fs::set_permissions(&files[0], std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(post(&mcp).await.is_err());
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(post(&mcp).await, Err(Failure::AuthRequired(_))));
}

#[tokio::test]
async fn the_secret_of_a_registration_is_kept_with_the_tokens_and_used_to_renew_them() {
    let (site, folder) = (site().await, tempfile::tempdir().unwrap());
    *site.secret.lock().unwrap() = Some("registered-secret".to_owned());
    let mcp = HttpServer::new(&site.server.url("/mcp"))
        .unwrap()
        .with_tokens(folder.path());
    site.log_in(&mcp, &["code=the-code&state={state}"])
        .await
        .unwrap();
    for number in 2..4 {
        site.token.lock().unwrap().0 = "another".to_owned();
        assert!(matches!(post(&mcp).await, Ok(Answer::Accepted)));
        let sent = format!("Bearer access-token-{number}");
        assert_eq!(
            site.mcp_requests().last().unwrap().header("authorization"),
            Some(&*sent)
        );
    }
}

#[tokio::test]
async fn programs_that_refresh_at_the_same_time_keep_the_login() {
    let (site, folder) = (site().await, tempfile::tempdir().unwrap());
    let mcp = HttpServer::new(&site.server.url("/mcp"))
        .unwrap()
        .with_tokens(folder.path());
    site.log_in(&mcp, &["code=the-code&state={state}"])
        .await
        .unwrap();
    for _ in 0..5 {
        site.token.lock().unwrap().0 = "another".to_owned();
        let answers = futures_util::future::join_all((0..4).map(|_| post(&mcp))).await;
        assert!(
            answers
                .iter()
                .any(|answer| matches!(answer, Ok(Answer::Accepted))),
            "{answers:?}"
        );
        assert!(matches!(post(&mcp).await, Ok(Answer::Accepted)));
    }
}

#[tokio::test]
async fn a_refusal_or_a_wrong_code_is_an_error_and_stores_nothing() {
    let (site, folder) = (site().await, tempfile::tempdir().unwrap());
    let mcp = HttpServer::new(&site.server.url("/mcp")).unwrap();
    assert!(matches!(
        site.log_in(&mcp, &[]).await,
        Err(LoginError::NoFolder)
    ));
    let mcp = mcp.with_tokens(folder.path());
    const REDIRECTED: &[&str] = &["code=redirected&state={state}"];
    for answer in [
        &["error=access_denied&state={state}"],
        &["code=wrong-canary&state={state}"],
        REDIRECTED,
    ] {
        let refused = site.log_in(&mcp, answer).await;
        assert!(
            matches!(refused, Err(LoginError::Refused { .. })),
            "{refused:?}"
        );
        assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
    }
    assert!(
        site.server
            .received()
            .iter()
            .all(|request| request.path() != "/elsewhere")
    );
    let stored = std::fs::read_dir(folder.path()).unwrap().flatten();
    let tokens = stored.filter(|entry| {
        std::fs::read_to_string(entry.path())
            .unwrap()
            .contains("access-token")
    });
    assert_eq!(tokens.count(), 0);
}

#[tokio::test]
async fn a_browser_is_opened_with_pages_of_the_web_alone() {
    let folder = tempfile::tempdir().unwrap();
    for page in ["file:///etc/passwd", "javascript:alert(1)", "x-app://open"] {
        let site = site_with(page).await;
        let mcp = HttpServer::new(&site.server.url("/mcp"))
            .unwrap()
            .with_tokens(folder.path());
        let refused = mcp.log_in(|url| panic!("opened {url}")).await;
        assert!(
            matches!(refused, Err(LoginError::Refused { .. })),
            "{refused:?}"
        );
    }
}
