//! The address filter: refuses hosts and addresses that are not public.

mod filter;
mod private_host;
mod reserved;

pub(crate) use filter::{AddressFilter, PrivateAddress, check_resolved};
pub(crate) use private_host::literal;
pub use private_host::private_host;
use reserved::is_public;
