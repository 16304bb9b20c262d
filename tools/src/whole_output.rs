//! [`WholeOutput`]: a host that takes results of any length.

/// A service by which a host takes results as the tool returns them, such as a program that prints them for a person. Without it, a result
/// is truncated to the tool's limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeOutput;
