//! [`SearchError`]: the errors of a search.

use std::time::Duration;

use tools::{ToolError, quote_after_colon};
use tools_http::{HttpError, StatusCode};

/// The error of a search or of its configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The backend has no usual address, and the user named none.
    #[error("the search backend {backend} needs the address of an instance; set its base URL")]
    NoBaseUrl {
        /// The name of the backend.
        backend: &'static str,
    },
    /// The base URL cannot be used.
    #[error(
        "the search backend {backend} cannot use the base URL {url:?}: it is not http(s)://host/path, without a user, a query or a fragment; \
         write for example https://search.example.org"
    )]
    BaseUrl {
        /// The name of the backend.
        backend: &'static str,
        /// The base URL.
        url: String,
    },
    /// The service has no option for the language of results.
    #[error(
        "the search backend {backend} has no option for language; remove the setting, or choose another backend"
    )]
    NoLanguage {
        /// The name of the backend.
        backend: &'static str,
    },
    /// The number of results is out of range.
    #[error("a search returns 1 to {most} results, not {count}; change the count")]
    Count {
        /// The wanted number.
        count: usize,
        /// The greatest number.
        most: usize,
    },
    /// The query cannot be sent.
    #[error("the query cannot be searched for: {reason}")]
    Query {
        /// The fault and its repair.
        reason: String,
    },
    /// The service answered with an error status.
    #[error("{host} refused the search with status {}{}; {}", status.as_u16(), quote_after_colon(message), fault.advice())]
    Status {
        /// The host of the service.
        host: String,
        /// The status.
        status: StatusCode,
        /// The cause.
        fault: SearchFault,
        /// The message of the service, cleaned and cut. Empty if there is none.
        message: String,
        /// The time until a retry that the service asks for.
        retry_after: Option<Duration>,
    },
    /// The service reported an error in an answer with the status of success.
    #[error(
        "{host} reported an error{}; change the query, or tell the user",
        quote_after_colon(message)
    )]
    Reported {
        /// The host of the service.
        host: String,
        /// The message of the service, cleaned and cut.
        message: String,
    },
    /// The service asked other services, of which none answered.
    #[error(
        "{host} had no answer from its search engines{}; try again later",
        quote_after_colon(message)
    )]
    Engines {
        /// The host of the service.
        host: String,
        /// The engines and their faults, cleaned and cut.
        message: String,
    },
    /// The answer is not of the expected form.
    #[error(
        "the answer of {host} cannot be read: {reason}; ask the user to check the address of this service in the settings"
    )]
    Answer {
        /// The host of the service.
        host: String,
        /// The fault.
        reason: String,
    },
    /// The request failed.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Http(error) => error.into(),
            SearchError::Status {
                fault, retry_after, ..
            } if fault.is_transient() => {
                let transient = Self::transient(error.to_string());
                retry_after
                    .into_iter()
                    .fold(transient, Self::with_retry_after)
            }
            SearchError::Engines { .. } => Self::transient(error.to_string()),
            error => Self::execution_failed(error.to_string()),
        }
    }
}

/// The cause of a service's refusal, which decides about the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchFault {
    /// The key is missing or invalid, or does not permit this search.
    Key,
    /// The service refuses the query or an option.
    Query,
    /// There were too many requests in a short time.
    RateLimit,
    /// The plan of the key is used up.
    Quota,
    /// The instance does not offer its results as JSON.
    Format,
    /// The address leads to no search service.
    Address,
    /// The service failed.
    Service,
}

impl SearchFault {
    /// Returns the usual meaning of a status.
    pub fn from_status(status: StatusCode) -> Self {
        match status.as_u16() {
            401 | 403 => Self::Key,
            402 => Self::Quota,
            404 | 405 | 410 | 300..=399 => Self::Address,
            408 | 425 | 429 => Self::RateLimit,
            400..=499 => Self::Query,
            _ => Self::Service,
        }
    }

    /// Returns true if the same request may succeed later.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::RateLimit | Self::Service)
    }

    /// Returns the next step.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Key => "ask the user to check the key of this service and its plan",
            Self::Query => "change the query",
            Self::RateLimit => "try again later",
            Self::Quota => "tell the user that the plan of the key is used up",
            Self::Format => {
                "the administrator of the instance must add json to search.formats in its settings.yml"
            }
            Self::Address => "ask the user to check the address of this service in the settings",
            Self::Service => "try again later, or tell the user",
        }
    }
}
