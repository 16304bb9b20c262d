//! [`SearchFault`]: the cause of a service's refusal.

use tools_http::StatusCode;

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
