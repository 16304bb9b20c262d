//! Run with `cargo test -p example-coming-from --doc`: compiles and runs the code of the pages beside it.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![cfg_attr(doctest, doc = include_str!("../rig.md"))]
#![cfg_attr(doctest, doc = include_str!("../rmcp.md"))]
#![cfg_attr(doctest, doc = include_str!("../langchain.md"))]
#![cfg_attr(doctest, doc = include_str!("../hand-written.md"))]
