//! A journal in memory that can be made to fail.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each program of tests uses a part of it"
)]

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};

use tools::journal::{
    BeginResult, CallArguments, CallKey, CallRecord, Checkpoint, CheckpointId, IntentId, Journal,
    JournalError, JournalFuture, OutcomeRecord, RecordedCall,
};
use tools::{Digest, ErrorCode, ToolResult};

/// An in-memory journal. Clones share their records.
#[derive(Clone, Default)]
pub struct Notebook {
    lines: Arc<Mutex<Vec<Line>>>,
    checkpoints: Arc<Mutex<BTreeMap<String, (CheckpointId, Checkpoint)>>>,
    trouble: Arc<Mutex<BTreeMap<&'static str, Trouble>>>,
}

#[derive(Clone, Copy)]
pub enum Trouble {
    Fails,
    Panics,
    Hangs,
    /// Succeeds a little later.
    Delays,
}

/// A record. The id of an intent is its position among all records, from 1.
#[derive(Clone, Debug, Default)]
pub struct Line {
    pub kind: &'static str,
    pub session: Option<String>,
    pub principal: Option<String>,
    pub correlation_id: Option<String>,
    pub call_id: Option<String>,
    pub key: Option<CallKey>,
    pub attempt: u32,
    pub parent: Option<u64>,
    pub depth: u32,
    pub tool: String,
    pub tool_digest: Option<Digest>,
    pub arguments_digest: Option<Digest>,
    pub arguments: Option<String>,
    pub reason: Option<String>,
    pub error: Option<ErrorCode>,
    pub intent: Option<u64>,
    pub result: Option<ToolResult>,
}

impl Notebook {
    pub fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap().clone()
    }

    /// Makes a method fail from now on.
    pub fn make_trouble(&self, method: &'static str, trouble: Trouble) {
        self.trouble.lock().unwrap().insert(method, trouble);
    }

    pub fn forget_outcomes(&self) {
        self.lines
            .lock()
            .unwrap()
            .retain(|line| line.kind != "outcome");
    }

    pub fn forget_outcome_of(&self, intent: u64) {
        self.lines
            .lock()
            .unwrap()
            .retain(|line| line.intent != Some(intent));
    }

    fn write(&self, line: Line) -> IntentId {
        let mut lines = self.lines.lock().unwrap();
        lines.push(line);
        IntentId(lines.len() as u64)
    }

    fn last_of(&self, key: &CallKey) -> Option<RecordedCall> {
        let lines = self.lines.lock().unwrap();
        let (at, begun) = lines
            .iter()
            .enumerate()
            .rfind(|(_, line)| line.kind == "intent" && line.key.as_ref() == Some(key))?;
        let ended = lines.iter().find(|line| line.intent == Some(at as u64 + 1));
        Some(RecordedCall {
            attempt: begun.attempt,
            tool_digest: begun.tool_digest,
            arguments_digest: begun.arguments_digest,
            result: ended.map(|line| line.result.clone().unwrap()),
            error: ended.and_then(|line| line.error),
        })
    }

    fn after_trouble<'a, T: Send + 'a>(
        &'a self,
        method: &'static str,
        give: impl FnOnce() -> T,
    ) -> JournalFuture<'a, T> {
        let trouble = self.trouble.lock().unwrap().get(method).copied();
        match trouble {
            Some(Trouble::Fails) => {
                Box::pin(async { Err(JournalError::failed("the disk is gone")) })
            }
            Some(Trouble::Panics) => panic!("the disk is gone"),
            Some(Trouble::Hangs) => Box::pin(pending()),
            Some(Trouble::Delays) => {
                let given = give();
                Box::pin(async move {
                    tokio::task::yield_now().await;
                    tokio::task::yield_now().await;
                    Ok(given)
                })
            }
            None => {
                let given = give();
                Box::pin(async move { Ok(given) })
            }
        }
    }
}

impl Journal for Notebook {
    fn find<'a>(&'a self, key: &'a CallKey) -> JournalFuture<'a, Option<RecordedCall>> {
        self.after_trouble("find", || self.last_of(key))
    }

    fn begin<'a>(&'a self, call: CallRecord<'a>, attempt: u32) -> JournalFuture<'a, BeginResult> {
        self.after_trouble("begin", || {
            // One atomic step, as the trait requires.
            static BEGINNING: Mutex<()> = Mutex::new(());
            let _alone = BEGINNING.lock().unwrap();
            if let Some(recorded) = call.key.and_then(|key| self.last_of(key))
                && recorded.attempt >= attempt
            {
                return BeginResult::AlreadyStarted(recorded);
            }
            BeginResult::Started(self.write(Line {
                kind: "intent",
                attempt,
                ..line(&call)
            }))
        })
    }

    fn end<'a>(&'a self, intent: IntentId, outcome: OutcomeRecord<'a>) -> JournalFuture<'a, ()> {
        self.after_trouble("end", || {
            let (result, error) = (Some(outcome.result.clone()), outcome.error);
            self.write(Line {
                kind: "outcome",
                intent: Some(intent.0),
                result,
                error,
                ..Line::default()
            });
        })
    }

    fn refuse<'a>(
        &'a self,
        call: CallRecord<'a>,
        code: ErrorCode,
        reason: &'a str,
    ) -> JournalFuture<'a, ()> {
        self.after_trouble("refuse", || {
            let reason = Some(reason.to_owned());
            self.write(Line {
                kind: "refusal",
                error: Some(code),
                reason,
                ..line(&call)
            });
        })
    }

    fn save<'a>(
        &'a self,
        session: &'a str,
        checkpoint: Checkpoint,
    ) -> JournalFuture<'a, CheckpointId> {
        self.after_trouble("save", || {
            let mut checkpoints = self.checkpoints.lock().unwrap();
            let id = CheckpointId(checkpoints.get(session).map_or(0, |(id, _)| id.0) + 1);
            checkpoints.insert(session.to_owned(), (id, checkpoint));
            id
        })
    }

    fn append<'a>(
        &'a self,
        session: &'a str,
        last: CheckpointId,
        added: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>> {
        self.after_trouble("append", || {
            let mut checkpoints = self.checkpoints.lock().unwrap();
            let (id, stored) = checkpoints.get_mut(session).filter(|(id, _)| *id == last)?;
            *id = CheckpointId(last.0 + 1);
            stored.messages.extend(added.messages);
            stored.state = added.state;
            Some(*id)
        })
    }

    fn load<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<Checkpoint>> {
        self.after_trouble("load", || {
            Some(self.checkpoints.lock().unwrap().get(session)?.1.clone())
        })
    }
}

fn line(call: &CallRecord<'_>) -> Line {
    Line {
        session: call.session.map(str::to_owned),
        principal: call.principal.map(str::to_owned),
        correlation_id: call.correlation_id.map(str::to_owned),
        call_id: call.call_id.map(str::to_owned),
        key: call.key.cloned(),
        parent: call.parent.map(|intent| intent.0),
        depth: call.depth,
        tool: call.tool.to_owned(),
        tool_digest: call.tool_digest,
        arguments_digest: call.arguments.map(CallArguments::digest),
        arguments: call.arguments.map(CallArguments::to_text),
        ..Line::default()
    }
}
