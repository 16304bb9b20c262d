//! The process-wide registry of providers. A thin shell over [`Providers`]; nothing else touches the static.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use once_cell::sync::Lazy;

use super::{
    Provider, ProviderConflict, ProviderEntry, ProviderError, ProviderOptions, Providers, RegisterProviderError,
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
    PROVIDERS.write().unwrap_or_else(PoisonError::into_inner).register(name, description, create)
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

/// A registration is one insertion, its last step: what a panicking writer leaves behind is whole.
fn read() -> RwLockReadGuard<'static, Providers> {
    PROVIDERS.read().unwrap_or_else(PoisonError::into_inner)
}
