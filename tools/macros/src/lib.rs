#![doc = include_str!("../README.md")]

mod attribute;
mod closure;
mod doc;
mod effect;
mod errors;
mod expand;
mod function;
mod name;
mod near;
mod parameter;
mod quantity;
mod service_field;
mod span;
mod template;
mod value;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

#[doc = include_str!("tool.md")]
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into()).into()
}
