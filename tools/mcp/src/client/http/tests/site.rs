//! A server and its authorisation server, on one loopback port.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use tools_http::Url;
use tools_testkit::http::{Received, TestServer};

/// A server, and the authorisation server on the same port.
pub(crate) struct Site {
    pub(crate) server: TestServer,
    /// The token that the server takes, and the number of tokens so far.
    pub(crate) token: Arc<Mutex<(String, usize)>>,
    /// The secret of the program, which a registration gives and each request for tokens must have.
    pub(crate) secret: Arc<Mutex<Option<String>>>,
    /// The code challenge of the browser's request.
    pub(crate) challenge: Arc<Mutex<String>>,
}

/// Starts a site. The page for the person is at the URL `page`, and `answer` has the answers to requests with the valid token.
pub(crate) async fn start(
    page: &'static str,
    answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static,
) -> Site {
    let origin: Arc<OnceLock<String>> = Arc::default();
    let token: Arc<Mutex<(String, usize)>> = Arc::default();
    let challenge: Arc<Mutex<String>> = Arc::default();
    let secret: Arc<Mutex<Option<String>>> = Arc::default();
    let (at, valid, challenged, required) = (
        origin.clone(),
        token.clone(),
        challenge.clone(),
        secret.clone(),
    );
    let respond = move |request: &Received| {
        let origin = at.get().unwrap();
        let json = |value: Value| TestServer::ok("application/json", value.to_string());
        match request.path() {
            "/.well-known/oauth-protected-resource/mcp" => json(
                json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}),
            ),
            "/.well-known/oauth-authorization-server" => json(json!({
                "issuer": origin,
                "authorization_endpoint": page.replace("{origin}", origin),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
            })),
            "/register" => {
                let asked: Value = serde_json::from_slice(&request.body).unwrap();
                let secret = required.lock().unwrap().clone();
                let redirect = &asked["redirect_uris"];
                json(
                    json!({"client_id": "client-1", "client_secret": secret, "redirect_uris": redirect}),
                )
            }
            "/token" => {
                let form: HashMap<_, _> = form(&request.body);
                if form.get("code").is_some_and(|code| code == "redirected") {
                    return TestServer::head(
                        "307 Temporary Redirect",
                        &[("location", "/elsewhere")],
                    );
                }
                let is_right = form.get("client_secret") == required.lock().unwrap().as_ref();
                let is_right = is_right
                    && match &*form["grant_type"] {
                        "authorization_code" => {
                            let digest = hmac_sha256::Hash::hash(form["code_verifier"].as_bytes());
                            form["code"] == "the-code"
                                && BASE64URL_NOPAD.encode(&digest) == *challenged.lock().unwrap()
                        }
                        _ => {
                            let mut valid = valid.lock().unwrap();
                            let is_latest =
                                form["refresh_token"] == format!("the-refresh-token-{}", valid.1);
                            if !is_latest {
                                // It may have been stolen, so the login ends.
                                *valid = ("revoked".to_owned(), valid.1 + 1000);
                            }
                            is_latest
                        }
                    };
                if !is_right {
                    let error = json!({"error": "invalid_grant", "error_description": format!("this is wrong: {form:?}")});
                    let head = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\r\n";
                    return format!("{head}{error}").into_bytes();
                }
                let mut valid = valid.lock().unwrap();
                valid.1 += 1;
                valid.0 = format!("access-token-{}", valid.1);
                json(json!({
                    "access_token": valid.0, "token_type": "Bearer", "expires_in": 3600,
                    "refresh_token": format!("the-refresh-token-{}", valid.1),
                }))
            }
            "/mcp"
                if request.header("authorization")
                    == Some(&*format!("Bearer {}", valid.lock().unwrap().0)) =>
            {
                answer(request)
            }
            "/mcp" => {
                let metadata = format!(
                    "Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
                );
                TestServer::head("401 Unauthorized", &[("www-authenticate", &metadata)])
            }
            _ => TestServer::head("404 Not Found", &[]),
        }
    };
    let server = TestServer::start(move |request| closing(respond(request))).await;
    origin
        .set(server.url("").trim_end_matches('/').to_owned())
        .unwrap();
    Site {
        server,
        token,
        secret,
        challenge,
    }
}

fn form(body: &[u8]) -> HashMap<String, String> {
    let query = String::from_utf8(body.to_vec()).unwrap();
    Url::parse(&format!("http://a/?{query}"))
        .unwrap()
        .query_pairs()
        .into_owned()
        .collect()
}

/// Tells the client that the connection ends with this answer, so that its next request has another one.
fn closing(mut answer: Vec<u8>) -> Vec<u8> {
    let line = answer.windows(2).position(|end| end == b"\r\n").unwrap();
    answer.splice(line..line, *b"\r\nconnection: close");
    answer
}
