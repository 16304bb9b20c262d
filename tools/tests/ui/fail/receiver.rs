use tools::tool;

struct Clock;

impl Clock {
    /// Tells the time.
    #[tool(pure)]
    fn now(&self) -> String {
        String::new()
    }
}

fn main() {}
