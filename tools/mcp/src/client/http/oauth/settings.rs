//! [`Settings`]: the settings of logins.

use std::path::PathBuf;
use std::sync::Arc;

use tools::Secret;

use crate::client::http::challenges::Challenges;

/// The settings of logins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(super) folder: Option<PathBuf>,
    pub(super) client: Option<(String, Option<Secret>)>,
    pub(super) document: Option<String>,
    pub(super) callback_port: u16,
    pub(in crate::client::http) challenges: Arc<Challenges>,
}
