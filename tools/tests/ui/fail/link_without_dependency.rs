//! A crate that is to be linked and is no dependency does not compile.

tools::link!(no_such_crate);

fn main() {}
