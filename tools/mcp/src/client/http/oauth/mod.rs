//! Authorisation by OAuth: a person logs in with a browser, and the tokens are kept in a folder.

mod exchange;
mod settings;
mod store;

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, OAuthClientConfig,
};
use serde_json::json;
use tokio::time::timeout;
use tools::{CancellationToken, visible_line};
use tools_http::server::{Server, ServerAnswer, ServerOptions};
use tools_http::{
    HttpClient, HttpError, HttpLimits, Method, Request, StatusCode, Url, private_host,
};

use crate::client::http::HttpServer;
use crate::client::http::challenges::Challenges;
use crate::client::http::oauth::exchange::{Exchange, Registration};
use crate::client::http::oauth::store::Store;

pub use self::settings::OAuthClient;
pub(super) use self::settings::Settings;

/// The name under which the program registers itself.
const CLIENT_NAME: &str = "Toolcrib";

/// The characters of an error of the authorisation server that are shown.
const SHOWN: usize = 300;

/// The time for the answer to a request without a token.
const PROBE: Duration = Duration::from_secs(10);

/// The maximum size of a document of an authorisation server, in bytes.
const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// Why nobody logged in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server has no folder for tokens.
    #[error("no folder for tokens is set; call HttpServer::with_tokens")]
    NoFolder,
    /// The options of HTTP cannot be used.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The answer of the browser could not be received.
    #[error("the browser's answer could not be received: {0}")]
    Listener(#[from] io::Error),
    /// The server, its authorisation server, or the person refused.
    #[error("the login failed: {reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> Self {
        Self::Refused {
            reason: visible_line(&error.to_string(), SHOWN),
        }
    }
}

impl HttpServer {
    /// Sets the folder for the tokens of [logins](Self::log_in). Its files are for their owner alone. Use the state folder of the program,
    /// which is hidden from tools. Removing the folder ends the login. A header `authorization` of the user takes the place of tokens.
    pub fn with_tokens(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let tokens = Store::new(&folder, &self.url).path;
        self.login.challenges = Arc::new(Challenges {
            path: Some(tokens.with_extension("challenge")),
            ..Challenges::default()
        });
        self.login.folder = Some(folder);
        self
    }

    /// Sets the program's registration. Without it, a login registers the program.
    pub fn with_oauth_client(mut self, client: OAuthClient) -> Self {
        self.login.client = client;
        self
    }

    /// Returns true if the server has refused a request since the latest login, and a login may permit it.
    pub fn is_login_required(&self) -> bool {
        self.login.challenges.is_pending()
    }

    /// Logs a person in and stores the tokens. `open` gets the URL to open in the person's browser, which then leads back to this
    /// machine. Waits for the person: drop the future to give up.
    ///
    /// If the server has refused a request of an earlier login for want of scopes, the person is asked for these too.
    ///
    /// The authorisation server is found as the specification says, and reached within the address filter.
    ///
    /// # Errors
    /// Returns an error if [`with_tokens`](Self::with_tokens) was not called, if no authorisation server is found, or if it or the person
    /// refuses.
    pub async fn log_in(&self, open: impl FnOnce(&str)) -> Result<(), LoginError> {
        let folder = self.login.folder.as_deref().ok_or(LoginError::NoFolder)?;
        let port = self.login.client.callback_port.unwrap_or_default();
        let redirect = Redirect::listen(port).await?;
        let mut manager = self.manager(Some(folder)).await?;
        if !self.is_login_required() {
            self.probe().await;
        }
        let challenge = self.login.challenges.latest();
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await?;
        manager.set_metadata(found.metadata);
        let session = AuthorizationSession::new(manager, self.request(folder, &redirect.url)).await;
        let session = session.map_err(|(_, error)| error)?;
        let url = browsable(session.get_authorization_url())?;
        let state = url.query_pairs().find(|(name, _)| name == "state");
        let state = state.map(|(_, state)| state.into_owned());
        open(url.as_str());
        let answered = redirect.answer(state.unwrap_or_default()).await?;
        session.handle_callback_url(&answered).await?;
        self.login.challenges.end();
        Ok(())
    }

    /// Sends a request without a token, because some servers say only then where to log in.
    async fn probe(&self) {
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "ping"});
        let Ok(requests) = self.requests() else {
            return;
        };
        let request = Request::new(Method::POST, self.url.as_str())
            .and_then(|request| request.with_json(&message));
        // The refusal is noted, and a login without one finds the authorisation server by the specification's addresses.
        let _ = timeout(PROBE, requests.send(request, None, HashMap::new(), [])).await;
    }

    /// Makes the request of a login.
    fn request(&self, folder: &Path, redirect: &str) -> AuthorizationRequest {
        let mut request = AuthorizationRequest::new(redirect).with_client_name(CLIENT_NAME);
        let client = self.login.client.clone();
        (request.client_id, request.client_secret) = (client.id, client.secret);
        request.client_metadata_url = client.document;
        let lacking = self.login.challenges.scopes();
        if lacking.is_empty() {
            return request.with_initial_scope_selection();
        }
        let mut scopes = Store::new(folder, &self.url).granted_scopes();
        for scope in lacking {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        request.with_scopes(scopes)
    }

    /// Makes the state of the authorisation, with the tokens that are stored.
    pub(super) async fn authorisation(&self) -> Result<AuthorizationManager, HttpError> {
        // A header of the user takes the place of tokens. Without tokens, requests go as they are.
        let mut names = self.header_names();
        let is_authorised = names.any(|name| name == "authorization");
        let folder = self.login.folder.as_deref().filter(|_| !is_authorised);
        let manager = self.manager(folder).await;
        let mut manager = manager.map_err(|error| HttpError::Option {
            option: "tokens",
            reason: error.to_string(),
        })?;
        if let Some(folder) = folder
            && Store::new(folder, &self.url).path.exists()
            // The server itself is likely out of reach too, and its answer says more.
            && let Err(error) = self.restore(&mut manager, folder).await
        {
            tracing::warn!(
                server = self.url_secrets.mask_url(&self.url),
                "tokens are not used: {error}"
            );
        }
        Ok(manager)
    }

    /// Prepares the use of the stored tokens.
    async fn restore(
        &self,
        manager: &mut AuthorizationManager,
        folder: &Path,
    ) -> Result<(), AuthError> {
        let challenge = self.login.challenges.latest();
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await?;
        manager.set_metadata(found.metadata);
        let is_restored = manager.initialize_from_store().await?;
        let own = &self.login.client;
        let client = match &own.id {
            _ if !is_restored => None,
            Some(id) => Some(id.clone()).zip(own.secret.clone()),
            None => Store::new(folder, &self.url).read_registration(),
        };
        let Some((id, secret)) = client else {
            return Ok(());
        };
        manager.configure_client(
            OAuthClientConfig::new(id, self.url.as_str()).with_client_secret(secret),
        )
    }

    async fn manager(&self, folder: Option<&Path>) -> Result<AuthorizationManager, AuthError> {
        let exchange = self
            .exchange()
            .map_err(|error| AuthError::InternalError(error.to_string()))?;
        let registration = exchange.registration.clone();
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), Arc::new(exchange))
                .await?;
        if let Some(folder) = folder {
            manager.set_credential_store(Store {
                registration,
                ..Store::new(folder, &self.url)
            });
        }
        Ok(manager)
    }

    fn exchange(&self) -> Result<Exchange, HttpError> {
        let mut options = self.options.clone();
        // The authorisation server is another party, even on the server's host.
        options.secrets.clear();
        if private_host(&self.url).is_some() {
            // The authorisation server of a local server is another port of the same host.
            let host = self.url.host_str().unwrap_or_default();
            options.private_hosts.push(host.to_owned());
        }
        options.limits = HttpLimits::default();
        options.limits.max_body_bytes = MAX_DOCUMENT_BYTES;
        options.limits.max_cache_bytes = 0;
        let following = HttpClient::from_options(options.clone())?;
        options.limits.max_redirects = 0;
        let direct = following.new_sibling(options)?;
        Ok(Exchange {
            following,
            direct,
            registration: Registration::default(),
        })
    }
}

/// Returns a URL that a browser may be opened with. The server chose it, and a program's opener does more than browse.
fn browsable(url: &str) -> Result<Url, LoginError> {
    let found = Url::parse(url)
        .ok()
        .filter(|url| ["http", "https"].contains(&url.scheme()));
    found.ok_or_else(|| LoginError::Refused {
        reason: format!(
            "{} is not the URL of a page; ask the operator of the server",
            visible_line(url, SHOWN)
        ),
    })
}

const PATH: &str = "/callback";

/// Receives the answer of the person's browser, on a loopback port.
pub(super) struct Redirect {
    server: Server,
    pub(super) url: String,
}

impl Redirect {
    /// Listens at a port of this machine. Port 0 is any.
    pub(super) async fn listen(port: u16) -> io::Result<Self> {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let server = Server::bind(address, ServerOptions::default()).await?;
        let url = format!("http://{}{PATH}", server.address());
        Ok(Self { server, url })
    }

    /// Waits for a request with this state, and returns its URL. Other programs of this machine may make others.
    pub(super) async fn answer(self, state: String) -> io::Result<String> {
        let found = Arc::new(OnceLock::new());
        let shutdown = CancellationToken::new();
        let answered = found.clone();
        let ended = shutdown.clone();
        let answer = move |request: tools_http::server::ServerRequest| {
            let url = Url::parse(&format!("{}?{}", self.url, request.query)).ok();
            let url = url.filter(|url| {
                let mut pairs = url.query_pairs();
                request.method == Method::GET
                    && request.path == PATH
                    && pairs.any(|(name, value)| name == "state" && value == *state)
            });
            std::future::ready(match url {
                Some(url) => {
                    answered.get_or_init(|| url.to_string());
                    ended.cancel();
                    let text = "You can close this window and return to the program.";
                    ServerAnswer::new(StatusCode::OK, text)
                }
                None => ServerAnswer::new(StatusCode::NOT_FOUND, "There is nothing here."),
            })
        };
        // Ends after the browser has its answer.
        self.server.serve(answer, shutdown).await;
        let url = found.get().cloned();
        url.ok_or_else(|| io::Error::other("the port was closed"))
    }
}
