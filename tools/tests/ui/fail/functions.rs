use tools::tool;

/// Does nothing.
#[tool(pure)]
const fn const_function() {}

/// Does nothing.
#[tool(pure)]
extern "C" fn extern_function() {}

/// Does nothing.
#[tool(pure)]
unsafe fn unsafe_function() {}

/// Shows a thing.
#[tool(pure)]
fn generic_type<T: ToString, const N: usize>(
    /// The thing.
    thing: T,
) -> String
where
    T: Clone,
{
    thing.to_string()
}

/// Shows a thing.
#[tool(pure)]
fn lifetime<'a>(cx: &'a tools::ToolContext) -> String {
    cx.depth().to_string()
}

/// Says who asks.
#[tool(pure)]
fn borrowed_result(cx: &tools::ToolContext) -> &str {
    cx.principal().unwrap_or("nobody")
}

#[tool(pure)]
fn missing_function_doc() -> String {
    String::new()
}

struct Clock;

impl Clock {
    /// Tells the time.
    #[tool(pure)]
    fn receiver(&self) -> String {
        String::new()
    }
}

/// A thing.
#[tool(pure)]
struct Thing {
    field: u8,
}

fn main() {}
