//! The backend of a program without journals: every function fails.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tools::Journal;

use crate::error::Error;

pub(super) fn open(_path: &Path, _with_arguments: bool) -> Result<Arc<dyn Journal>, Error> {
    Err(Error::NoJournal)
}

pub(crate) fn verify(_path: &Path, _head: Option<&str>) -> Result<(u64, String), Error> {
    Err(Error::NoJournal)
}

pub(crate) fn damage(_error: &Error) -> Option<Value> {
    None
}

pub(crate) fn show(_path: &Path, _session: Option<&str>, _is_json: bool) -> Result<(), Error> {
    Err(Error::NoJournal)
}
