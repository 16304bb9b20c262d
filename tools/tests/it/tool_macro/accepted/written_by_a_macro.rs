//! Tools that `macro_rules!` writes, with the crate reached through the facade of somebody else.

mod facade {
    pub(crate) use tools as inner;

    macro_rules! constant {
        ($(#[$doc:meta])* $name:ident: $context:ty, $type:ty, $tool:literal) => {
            $(#[$doc])*
            #[facade::inner::tool(pure, name = $tool, crate = $crate::tool_macro::accepted::written_by_a_macro::facade::inner)]
            fn $name(
                /// Returned as it is.
                value: $type,
                _cx: $context,
            ) -> $type {
                value
            }
        };
    }
    pub(crate) use constant;
}

facade::constant! {
    /// Returns a number.
    number: &tools::ToolContext, u8, "echo.number"
}

facade::constant! {
    /// Returns a list.
    list: tools::ToolContext, Vec<u8>, "echo.list"
}

#[test]
fn a_macro_writes_tools() {
    tools::Catalog::new().submit(&[&NUMBER_TOOL, &LIST_TOOL]).unwrap();
}
