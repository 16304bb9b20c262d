//! What `#[tool]` answers, without a compiler behind it.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::expand;

/// The messages of the compile errors, in their order.
fn faults(attribute: TokenStream, item: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(expand(attribute, item)).unwrap();
    file.items
        .into_iter()
        .filter_map(|item| match item {
            syn::Item::Macro(item) if item.mac.path.segments.last().unwrap().ident == "compile_error" => {
                Some(item.mac.parse_body::<syn::LitStr>().unwrap().value())
            }
            _ => None,
        })
        .collect()
}

/// A tool with these attributes and nothing wrong beside them.
fn faults_of(attribute: TokenStream) -> Vec<String> {
    faults(attribute, quote! { #[doc = "A."] fn f(#[doc = "B."] path: String) {} })
}

fn assert_fault(found: &[String], expected: &str) {
    assert!(matches!(found, [one] if one.contains(expected)), "expected one fault with {expected:?}, found {found:#?}");
}

#[test]
fn every_attribute_is_understood() {
    let all = quote! {
        name = "fs.read", title = "Read", reads = "fs:{path}", writes = ["fs:{path}", "x:y",], destroys = "fs:a", reads = "b:c",
        open_world, idempotent, audit, blocking, timeout = "30s", max_output = "64KiB", tags = ["a", "b"], needs(A, b::B<C, D>),
        example({"path": "a"} => [1, 2]), example({}), crate = ::cribs,
    };
    assert_eq!(faults_of(all), [""; 0]);
    assert_eq!(faults_of(quote! { pure, crate = "crate::x", needs = A, max_output = 1_000, tags = "a" }), [""; 0]);
}

#[test]
fn a_wrong_attribute_is_named_with_what_to_write() {
    for (attribute, expected) in [
        (quote! { pure, raeds = "x:y" }, "no attribute `raeds` (did you mean `reads`?); there are: pure, reads"),
        (quote! { pure, pure }, "`pure` stands here twice"),
        (quote! { pure, "name" }, "expected the name of an attribute"),
        (quote! { pure idempotent }, "takes no value"),
        (quote! { pure = true }, "`pure` takes no value"),
        (quote! { pure, name }, "`name` needs a value"),
        (quote! { pure, name = 3 }, "write `name = "),
        (quote! { pure, name = "" }, "may not be empty"),
        (quote! { pure, name = "a b" }, "has ' '"),
        (quote! { pure, title = "a" "b" }, "expected a comma"),
        (quote! { pure, title = " " }, "`title` is blank"),
        (quote! { pure, tags = [] }, "`tags` lists nothing"),
        (quote! { pure, tags = [""] }, "this is blank"),
        (quote! { pure, timeout = 30 }, "such as `timeout = \"30s\"`"),
        (quote! { pure, timeout = "30" }, "is not a duration"),
        (quote! { pure, max_output = 0 }, "above 0"),
        (quote! { pure, max_output = "64KB" }, "is not a size"),
        (quote! { pure, needs() }, "`needs` lists nothing"),
        (quote! { pure, crate = "a b" }, "write the path of the crate"),
        (quote! { pure, example([1]) }, "the arguments of an example are an object"),
        (quote! { pure, example({} =>) }, "with or without `=> result`"),
        (quote! { pure, example = 1 }, "write `example("),
        (quote! { reads = "fs:{path" }, "a `{` stands alone"),
        (
            quote! { reads = "fs:{pat}" },
            "names `pat`, which is not an argument of this tool (did you mean `path`?); there are: path",
        ),
        (quote! { reads = 1 }, "write `reads = "),
        (quote! { pure, open_world }, "touches nothing"),
        (quote! { idempotent }, "does not say what it touches"),
    ] {
        assert_fault(&faults_of(attribute), expected);
    }
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let found = faults(quote! { timeout = "1", colour, pure, pure }, quote! { unsafe fn f<T>(a: &str, (b, c): T) {} });
    assert_eq!(found.len(), 8, "{found:#?}");
}

#[test]
fn the_function_is_given_back_even_when_it_is_no_tool() {
    let given = expand(quote! {}, quote! { fn f(#[doc = "B."] path: &str) -> usize { path.len() } });
    let file: syn::File = syn::parse2(given).unwrap();
    let original: syn::Item = syn::parse_quote! { fn f(path: &str) -> usize { path.len() } };
    assert_eq!(file.items.first(), Some(&original));
}

#[test]
fn a_template_may_use_the_name_in_the_schema() {
    let renamed =
        quote! { #[doc = "A."] fn f(#[doc = "B."] #[serde(default = "x", rename = "file-path")] path: String) {} };
    assert_eq!(faults(quote! { reads = "fs:{file-path}" }, renamed.clone()), [""; 0]);
    assert_fault(&faults(quote! { reads = "fs:{path}" }, renamed), "there are: file-path");
    let raw = quote! { #[doc = "A."] fn f(#[doc = "B."] r#type: String) {} };
    assert_eq!(faults(quote! { reads = "x:{type}" }, raw), [""; 0]);
}

#[test]
fn the_fields_of_a_struct_are_not_guessed() {
    let args = quote! { #[doc = "A."] fn f(#[args] Search { query, .. }: Search, _: &tools::ToolContext) {} };
    assert_eq!(faults(quote! { reads = "fs:{anything}" }, args), [""; 0]);
}

#[test]
fn a_parameter_that_no_json_can_fill_is_refused() {
    for (ty, expected) in [
        (quote! { &str }, "write `String`"),
        (quote! { &[u8] }, "write `Vec<u8>`"),
        (quote! { &std::path::Path }, "write `String`"),
        (quote! { &mut Thing }, "write `Thing`"),
        (quote! { impl Into<String> }, "not `impl Trait`"),
        (quote! { Vec<impl Into<String>> }, "not `impl Trait`"),
        (quote! { Option<&'static str> }, "cannot borrow"),
        (quote! { Cow<'_, str> }, "cannot borrow"),
        (quote! { &mut ToolContext }, "take it as `&ToolContext`"),
        (quote! { &'static ToolContext }, "take it as `&ToolContext`"),
    ] {
        assert_fault(&faults(quote! { pure }, quote! { #[doc = "A."] fn f(#[doc = "B."] a: #ty) {} }), expected);
    }
}

#[test]
fn what_a_model_cannot_call_is_refused() {
    let found =
        faults(quote! { pure }, quote! { #[doc = "A."] const unsafe extern "C" fn f(#[doc = "B."] a: u8, ...) {} });
    for (found, expected) in found.iter().zip(["`const`", "has to be safe", "`extern`", "fixed list of arguments"]) {
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(found.len(), 4);
}

#[test]
fn a_result_that_borrows_is_refused() {
    for (ty, expected) in [(quote! { &str }, false), (quote! { Cow<'_, str> }, false), (quote! { &'static str }, true)]
    {
        let found = faults(quote! { pure }, quote! { #[doc = "A."] fn f(cx: &ToolContext) -> #ty { "" } });
        assert_eq!(found.is_empty(), expected, "{ty}: {found:?}");
    }
}
