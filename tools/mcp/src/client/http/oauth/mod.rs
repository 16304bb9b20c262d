//! Authorisation by OAuth: a person logs in with a browser, and the tokens are kept in a folder.

mod exchange;
mod redirect;
mod store;

use std::io;
use std::path::Path;
use std::sync::Arc;

use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession};
use tools::visible_line;
use tools_http::{HttpClient, HttpError, HttpLimits, Url};

use self::exchange::Exchange;
use self::redirect::Redirect;
use self::store::Store;
use super::{HttpServer, is_private};

/// The name under which the program registers itself.
const CLIENT_NAME: &str = "Toolcrib";

/// The characters of an error of the authorisation server that are shown.
const SHOWN: usize = 300;

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
        Self::Refused { reason: visible_line(&error.to_string(), SHOWN) }
    }
}

impl HttpServer {
    /// Logs a person in and stores the tokens. `open` gets the URL to open in the person's browser, which then leads back to this
    /// machine. Waits for the person: drop the future to give up.
    ///
    /// The authorisation server is found as the specification says, and reached within the address filter.
    ///
    /// # Errors
    /// Returns an error if [`with_tokens`](Self::with_tokens) was not called, if no authorisation server is found, or if it or the person
    /// refuses.
    pub async fn log_in(&self, open: impl FnOnce(&str)) -> Result<(), LoginError> {
        let folder = self.tokens.as_deref().ok_or(LoginError::NoFolder)?;
        let redirect = Redirect::listen().await?;
        let mut manager = self.manager(folder).await?;
        let found = manager.resolve_metadata().await?;
        manager.set_metadata(found.metadata);
        let request = AuthorizationRequest::new(redirect.url()).with_client_name(CLIENT_NAME);
        let session = AuthorizationSession::new(manager, request.with_initial_scope_selection()).await;
        let session = session.map_err(|(_, error)| error)?;
        let url = browsable(session.get_authorization_url())?;
        let state = url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned());
        open(url.as_str());
        let answered = redirect.answer(&state.unwrap_or_default()).await?;
        session.handle_callback_url(&answered).await?;
        Ok(())
    }

    /// Removes the tokens.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn log_out(&self) -> io::Result<()> {
        self.tokens.as_deref().map_or(Ok(()), |folder| Store::new(folder, &self.url).remove())
    }

    /// Makes the state of the authorisation, with the tokens that are stored.
    pub(super) async fn authorisation(&self) -> Result<AuthorizationManager, HttpError> {
        let refused = |error: AuthError| HttpError::Option { option: "tokens", reason: error.to_string() };
        let Some(folder) = self.tokens.as_ref().filter(|_| !self.is_authorised()) else {
            // Without tokens, requests go as they are.
            return self.manager(Path::new("")).await.map_err(refused);
        };
        let mut manager = self.manager(folder).await.map_err(refused)?;
        if Store::new(folder, &self.url).exists() {
            // The server itself is likely out of reach too, and its answer says more.
            if let Err(error) = manager.initialize_from_store().await {
                tracing::warn!(server = self.url_secrets.shown(&self.url), "tokens are not used: {error}");
            }
        }
        Ok(manager)
    }

    async fn manager(&self, folder: &Path) -> Result<AuthorizationManager, AuthError> {
        let exchange = self.exchange().map_err(|error| AuthError::InternalError(error.to_string()))?;
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), Arc::new(exchange)).await?;
        if !folder.as_os_str().is_empty() {
            manager.set_credential_store(Store::new(folder, &self.url));
        }
        Ok(manager)
    }

    fn exchange(&self) -> Result<Exchange, HttpError> {
        let mut options = self.options.clone();
        // The authorisation server is another party, even on the server's host.
        options.secrets.clear();
        if is_private(&self.url) {
            // The authorisation server of a local server is another port of the same host.
            options = options.with_private_host(self.url.host_str().unwrap_or_default());
        }
        let mut limits = HttpLimits::default();
        (limits.max_body_bytes, limits.max_cache_bytes) = (MAX_DOCUMENT_BYTES, 0);
        let following = HttpClient::from_options(options.clone().with_limits(limits.clone()))?;
        limits.max_redirects = 0;
        let direct = following.new_sibling(options.with_limits(limits))?;
        Ok(Exchange { following, direct })
    }
}

/// Returns a URL that a browser may be opened with. The server chose it, and a program's opener does more than browse.
fn browsable(url: &str) -> Result<Url, LoginError> {
    let found = Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    found.ok_or_else(|| LoginError::Refused {
        reason: format!("{} is not the URL of a page; ask the operator of the server", visible_line(url, SHOWN)),
    })
}
