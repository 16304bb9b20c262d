//! [`CallingProvider`]: a model in memory that makes one call after another.

use std::sync::Mutex;

use agent::{Provider, ProviderInfo, Request, Turn, TurnFuture, Usage};
use serde_json::json;
use tools::ToolCall;

/// A model whose turns have `calls` calls each, of one tool with another path each time. It reports its usage as services do: the tokens of a
/// turn without it are estimated by a walk through the whole conversation.
pub(crate) struct CallingProvider<F> {
    pub(crate) tool: &'static str,
    pub(crate) steps: usize,
    pub(crate) calls: usize,
    /// Hears the number of a request when it arrives, and the steps so far.
    pub(crate) observer: F,
    done: Mutex<usize>,
}

impl<F: Fn(usize) + Send + Sync> CallingProvider<F> {
    pub(crate) fn new(tool: &'static str, steps: usize, calls: usize, observer: F) -> Self {
        Self {
            tool,
            steps,
            calls,
            observer,
            done: Mutex::default(),
        }
    }

    fn turn(&self) -> Turn {
        let mut done = self.done.lock().unwrap();
        (self.observer)(*done);
        if *done == self.steps {
            return Turn::answer("Done.");
        }
        let step = *done;
        *done += 1;
        Turn::calls((0..self.calls).map(|at| {
            let path = format!("src/part_{step}_{at}/file.rs");
            ToolCall::new(
                format!("call_{step}_{at}"),
                self.tool,
                json!({"path": path}),
            )
        }))
    }
}

impl<F: Fn(usize) + Send + Sync> Provider for CallingProvider<F> {
    fn about(&self) -> &ProviderInfo {
        static CALLING: ProviderInfo = ProviderInfo::new("calling");
        &CALLING
    }

    fn complete<'a>(&'a self, _: Request<'a>) -> TurnFuture<'a> {
        let usage = Usage {
            input_tokens: 1_000,
            output_tokens: 20,
            ..Usage::default()
        };
        let turn = Turn {
            usage: Some(usage),
            ..self.turn()
        };
        Box::pin(std::future::ready(Ok(turn)))
    }
}
