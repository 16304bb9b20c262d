//! How the data of this crate looks to model providers.

mod name;

pub use name::WireNames;
