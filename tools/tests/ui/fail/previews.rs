use tools::{Preview, ToolContext, tool};

fn other_arguments(path: u32) -> Preview {
    Preview::summary(path.to_string())
}

/// Removes a file.
#[tool(destroys = "fs:{path}", preview = other_arguments)]
fn remove(
    /// The file.
    path: String,
) {
    drop(path);
}

fn no_preview() -> String {
    String::new()
}

/// Clears the log.
#[tool(destroys = "log:all", preview = no_preview)]
fn clear() {}

async fn waiting(_cx: &ToolContext) -> Result<Preview, String> {
    Err("none".to_owned())
}

/// Clears the log, and its preview waits.
#[tool(destroys = "log:all", preview = waiting)]
fn clear_while_waiting(_cx: &ToolContext) {}

fn at_once() -> Result<Preview, String> {
    Err("none".to_owned())
}

/// Clears the log, and its preview does not wait.
#[tool(destroys = "log:all", preview = at_once)]
async fn clear_later() {}

/// Clears the log, with a text as its preview.
#[tool(destroys = "log:all", preview = "clears the log")]
fn clear_with_a_text() {}

fn main() {}
