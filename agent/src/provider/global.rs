//! The process-wide registry of providers. A thin shell over [`Providers`]; nothing else touches the static.
//!
//! Nothing of a user runs under the lock: what is replaced or taken out is dropped after it. A writer that panics all the same
//! leaves the map whole, because an insertion is its last step, so a poisoned lock is taken over.

use std::any::type_name;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use once_cell::sync::Lazy;
use tools::Source;

use super::registry::built;
use super::{
    Provider, ProviderConflict, ProviderEntry, ProviderError, ProviderOptions, ProviderProblem, ProviderSubmission,
    Providers, RegisterProviderError,
};

static PROVIDERS: Lazy<RwLock<Providers>> = Lazy::new(|| RwLock::new(Providers::linked()));

/// Adds a provider to the process-wide registry.
///
/// # Errors
/// As [`Providers::register`].
#[track_caller]
pub fn register<F>(name: &str, description: &str, create: F) -> Result<Arc<ProviderEntry>, RegisterProviderError>
where
    F: Fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
{
    let entry = built(name, description, Source::of_caller(type_name::<F>()), create)?;
    write().add(vec![entry.clone()])?;
    Ok(entry)
}

/// Adds a provider to the process-wide registry, or puts it in the place of the one that holds its name.
///
/// # Errors
/// As [`Providers::replace`].
#[track_caller]
pub fn replace<F>(name: &str, description: &str, create: F) -> Result<Arc<ProviderEntry>, RegisterProviderError>
where
    F: Fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
{
    let entry = built(name, description, Source::of_caller(type_name::<F>()), create)?;
    let replaced = write().put(entry.clone());
    drop(replaced);
    Ok(entry)
}

/// Adds what a crate would contribute by being linked to the process-wide registry.
///
/// # Errors
/// As [`Providers::submit`].
pub fn submit(submissions: &[&ProviderSubmission]) -> Result<(), RegisterProviderError> {
    write().submit(submissions)
}

/// Takes a name out of the process-wide registry; gives whether there was one.
pub fn unregister(name: &str) -> bool {
    let removed = write().remove(name);
    removed.is_some()
}

/// The provider of that name in the process-wide registry.
///
/// # Errors
/// As [`Providers::get`].
pub fn get(name: &str) -> Result<Arc<ProviderEntry>, ProviderError> {
    read().get(name)
}

/// Whether the name is taken in the process-wide registry.
pub fn contains(name: &str) -> bool {
    read().contains(name)
}

/// All providers of the process-wide registry that can be used, sorted by name.
pub fn list() -> Vec<Arc<ProviderEntry>> {
    read().list()
}

/// The names in the process-wide registry that several linked crates claim, sorted.
pub fn conflicts() -> Vec<ProviderConflict> {
    read().conflicts()
}

/// The linked providers that cannot be used.
pub fn problems() -> Vec<ProviderProblem> {
    read().problems()
}

/// A copy of the process-wide registry as it is now.
pub fn snapshot() -> Providers {
    read().clone()
}

fn read() -> RwLockReadGuard<'static, Providers> {
    PROVIDERS.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Providers> {
    PROVIDERS.write().unwrap_or_else(PoisonError::into_inner)
}
