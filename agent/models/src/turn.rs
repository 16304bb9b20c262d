//! [`TurnBuilder`]: puts a turn together from the pieces of a reply, of any API.

use agent::{ProviderError, StopReason, TextSink, Turn, Usage, WireToolSet};
use serde_json::{Map, Value, json};
use tools::protocol::{Message, Part, Role};
use tools::{Content, ToolCall};

use crate::arguments::arguments;
use crate::broken::Broken;
use crate::origin::{BESIDE, ITEM, ORIGIN, Origin};
use crate::raw::{Fields, Raw};
use crate::retry::Failure;
use crate::written_thoughts::WrittenThoughts;

/// The name of a call that has none.
const NAMELESS: &str = "call_without_a_name";

/// The parts of a turn, in their order.
#[derive(Default)]
pub(crate) struct TurnBuilder<'a> {
    blocks: Vec<Block>,
    text_sink: Option<TextSink<'a>>,
    /// The text that is being sent, and its position.
    spoken: (usize, WrittenThoughts),
    /// The word of the service for the end of the turn.
    pub(crate) end: Option<String>,
    /// True if the reply has its end.
    pub(crate) has_ended: bool,
    /// True if nothing more is to come.
    pub(crate) is_over: bool,
    /// True if the service marked a part of the turn as a refusal.
    pub(crate) is_refusal: bool,
    /// The words of a refusal without content.
    pub(crate) explanation: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    pub(crate) response_id: Option<String>,
}

/// A part of a turn.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// The text, the arguments of the call, or the data of the image.
    pub(crate) text: String,
    /// The place that the service gives. Equal places stay in the order of arrival.
    pub(crate) place: u64,
    /// The service's own item. That of a text, an image or a call has only the members that the block itself does not have.
    pub(crate) item: Map<String, Value>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    Text,
    /// A thought that goes back if it has an item.
    Thought,
    Call {
        id: String,
        name: String,
    },
    Image {
        mime_type: String,
    },
    /// An item that only the service reads, such as a call of its own tools.
    Opaque,
}

impl<'a> TurnBuilder<'a> {
    pub(crate) fn new(text_sink: Option<TextSink<'a>>) -> Self {
        Self {
            text_sink,
            ..Self::default()
        }
    }

    /// Adds a part, and returns its position.
    pub(crate) fn open(&mut self, kind: Kind) -> usize {
        self.blocks.push(Block {
            kind,
            text: String::new(),
            place: 0,
            item: Map::new(),
        });
        self.blocks.len() - 1
    }

    /// Returns the last part if it is of this kind, or else a new one.
    pub(crate) fn part(&mut self, kind: Kind) -> usize {
        match self.blocks.last() {
            Some(last) if last.kind == kind => self.blocks.len() - 1,
            _ => self.open(kind),
        }
    }

    /// Adds a piece to the last part if it is of this kind, or else to a new one.
    pub(crate) fn write(&mut self, kind: Kind, piece: &str) {
        if !piece.is_empty() {
            let at = self.part(kind);
            self.push(at, piece);
        }
    }

    /// Returns the parts that were added.
    pub(crate) fn blocks(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    /// Adds a part before all others.
    pub(crate) fn prepend(&mut self, kind: Kind, text: String, item: Map<String, Value>) {
        let block = Block {
            kind,
            text,
            place: 0,
            item,
        };
        self.blocks.insert(0, block);
    }

    /// Returns a part by its position.
    pub(crate) fn block(&mut self, at: usize) -> &mut Block {
        &mut self.blocks[at]
    }

    /// Adds a piece to the text of a part. A text is sent as it comes.
    pub(crate) fn push(&mut self, at: usize, piece: &str) {
        let block = &mut self.blocks[at];
        block.text.push_str(piece);
        if let (Kind::Text, Some(sink)) = (&block.kind, self.text_sink) {
            // A mark counts only at the beginning and the end of one text, so each part has a reader of its own.
            if self.spoken.0 != at {
                send_text(sink, &self.spoken.1.finish());
                self.spoken = (at, WrittenThoughts::default());
            }
            send_text(sink, &self.spoken.1.read(piece));
        }
    }

    /// Returns the turn of a reply that is complete.
    pub(crate) fn build(
        mut self,
        provider: &str,
        origin: &Origin,
        tools: &WireToolSet,
    ) -> Result<Turn, Failure> {
        self.text_sink
            .iter()
            .for_each(|sink| send_text(*sink, &self.spoken.1.finish()));
        self.blocks
            // A call that was begun and never written has nothing to run, and no result could name it.
            .retain(|block| !block.is_nameless() || !block.text.is_empty());
        let mut named = self
            .blocks
            .iter()
            .filter(|block| matches!(block.kind, Kind::Call { .. }))
            .filter(|block| !block.is_nameless());
        // The arguments without a name may be those of a call without arguments.
        let has_others =
            named.clone().next().is_some() && named.all(|block| !block.text.trim().is_empty());
        for block in self.blocks.iter_mut().filter(|block| block.is_nameless()) {
            if !has_others {
                let reason = "a part of a call has no name";
                return Err(Failure::unreadable_turn(provider, reason));
            }
            // The result of such a call says that there is no tool of this name, and the others run.
            if let Kind::Call { name, .. } = &mut block.kind {
                NAMELESS.clone_into(name);
            }
        }
        // The Responses API may end an item before an earlier one; the order of the turn is that of the places.
        self.blocks.sort_by_key(|block| block.place);
        let mut blocks = self.blocks.iter();
        let has_calls = blocks.any(|block| matches!(block.kind, Kind::Call { .. }));
        let stop = stop_reason(self.end.as_deref(), self.is_refusal, has_calls);
        let mut parts = Vec::new();
        let mut faults = Vec::new();
        for block in self.blocks {
            block.write(origin, tools, &stop, &mut parts, &mut faults);
        }
        // An explanation stands for a text that is missing, and would contradict one that is there.
        let is_silent = !parts.iter().any(|part| matches!(part, Part::Content(_)));
        if let Some(words) = self.explanation.filter(|_| is_silent) {
            parts.push(Part::Content(words.into()));
        }
        let mut turn = Turn::new(Message {
            role: Role::Assistant,
            parts,
        });
        turn.stop = stop;
        turn.usage = self.usage;
        turn.model = self.model.filter(|model| !model.is_empty());
        turn.response_id = self.response_id;
        let faults = faults.into_iter().enumerate();
        turn.faults = faults
            .filter_map(|(position, fault)| Some((position, fault?)))
            .collect();
        check_turn(provider, turn)
    }
}

impl Block {
    fn is_nameless(&self) -> bool {
        matches!(&self.kind, Kind::Call { name, .. } if name.is_empty())
    }

    /// Adds the parts of the message, and for a call the reason not to run it.
    fn write(
        self,
        origin: &Origin,
        tools: &WireToolSet,
        stop: &StopReason,
        parts: &mut Vec<Part>,
        faults: &mut Vec<Option<String>>,
    ) {
        let opaque = |key: &str, item: Map<String, Value>| json!({ORIGIN: origin, key: item});
        let has_item = self.item.values().any(|value| !value.is_null());
        let (thoughts, answer) = match self.kind {
            Kind::Text => WrittenThoughts::separate(&self.text),
            _ => (String::new(), String::new()),
        };
        if !thoughts.is_empty() {
            parts.push(Part::Reasoning {
                text: thoughts,
                opaque: Value::Null,
            });
        }
        match &self.kind {
            Kind::Text if answer.is_empty() => return,
            Kind::Thought | Kind::Opaque => {
                let opaque = if has_item {
                    opaque(ITEM, self.item)
                } else {
                    Value::Null
                };
                return parts.push(Part::Reasoning {
                    text: self.text,
                    opaque,
                });
            }
            _ if has_item => parts.push(Part::Reasoning {
                text: String::new(),
                opaque: opaque(BESIDE, self.item),
            }),
            _ => {}
        }
        parts.push(match self.kind {
            Kind::Call { id, name } => {
                let (arguments, invalid) = arguments(self.text);
                faults.push(fault(&name, invalid.as_deref(), stop));
                Part::ToolCall(tools.read_call(ToolCall::new(id, name, arguments)))
            }
            Kind::Image { mime_type } => Part::Content(Content::Image {
                data: self.text,
                mime_type,
            }),
            _ => Part::Content(answer.into()),
        });
    }
}

fn send_text(sink: TextSink<'_>, text: &str) {
    if !text.is_empty() {
        sink(text);
    }
}

/// Returns the reason that a call must not be run, or `None` if it may be run. `invalid` says what its arguments are.
fn fault(name: &str, invalid: Option<&str>, stop: &StopReason) -> Option<String> {
    match (stop, invalid) {
        // A run refuses every call of a turn that was cut off.
        (StopReason::Length, _) => None,
        (StopReason::Refusal, _) => Some(format!(
            "the service stopped the turn as a refusal, so the call of {name} was not run"
        )),
        (_, Some(reason)) => Some(format!(
            "the arguments of {name} are not a JSON object: {reason}. The call was not run; call again with one JSON object that \
             matches the tool's schema"
        )),
        _ => None,
    }
}

/// Gemini's reasons for a turn that it gave up.
const UNREADABLE: [&str; 5] = [
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
];

/// Returns an error in place of a turn that the service gave up, because it cannot read what the model wrote.
fn check_turn(provider: &str, turn: Turn) -> Result<Turn, Failure> {
    match &turn.stop {
        StopReason::Other(reason)
            // A call that arrived whole is run, so that the turn goes on without a repetition.
            if UNREADABLE.contains(&reason.as_str()) && turn.message.calls().next().is_none() =>
        {
            Err(Failure::unreadable_turn(provider, reason))
        }
        // OpenRouter's reason for a reply that broke off behind it.
        StopReason::Other(reason) if reason.eq_ignore_ascii_case("error") => {
            Err(Failure::transient(ProviderError::Malformed {
                provider: provider.to_owned(),
                message: "the service ended the reply with an error".to_owned(),
            }))
        }
        _ => Ok(turn),
    }
}

/// Returns the tokens: those of the input, with the cached ones among them, and of the output. Returns `None` if none are stated.
pub(crate) fn usage(
    input: Raw<'_>,
    output: Raw<'_>,
    cached: Raw<'_>,
    cache_write: Raw<'_>,
) -> Option<Usage> {
    let input = input.number();
    let output = output.number();
    (input.is_some() || output.is_some()).then(|| Usage {
        input_tokens: input.unwrap_or_default(),
        output_tokens: output.unwrap_or_default(),
        cached_input_tokens: cached.number().unwrap_or_default(),
        cache_write_tokens: cache_write.number().unwrap_or_default(),
    })
}

/// Reads the documents of a reply in the format of one API.
pub(crate) trait ReadReply: Send {
    /// Reads a document of a stream, or a whole reply.
    ///
    /// # Errors
    /// Returns an error if the document says that the reply failed.
    fn read(&mut self, document: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken>;

    /// Reads the mark `[DONE]`.
    fn read_mark(&mut self, _turn: &mut TurnBuilder<'_>) {}

    /// Finishes the turn at the end of the reply.
    fn finish(&mut self, _turn: &mut TurnBuilder<'_>) {}
}

/// The words of each reason, in lower case. `stop` is the end by the model itself, of which services have many spellings.
const WORDS: [(StopReason, &str); 4] = [
    (
        StopReason::Answer,
        "stop end eos end_turn stop_sequence tool_calls tool_call tool_use function_call eos_token stop_token eos_token_id end_of_text complete completed finished done normal",
    ),
    (
        StopReason::Length,
        "length max_tokens max_output_tokens model_length model_context_window_exceeded",
    ),
    (
        StopReason::Refusal,
        "refusal safety content_filter content_filtered sensitive recitation image_recitation blocklist prohibited_content spii image_safety image_prohibited_content model_armor",
    ),
    (StopReason::Paused, "pause_turn"),
];

/// Returns the reason of a turn's end. A reply without a word for it counts as finished.
pub(crate) fn stop_reason(word: Option<&str>, is_refusal: bool, has_calls: bool) -> StopReason {
    let lower = word.unwrap_or("stop").to_ascii_lowercase();
    let known = WORDS
        .iter()
        .find(|(_, words)| words.split(' ').any(|word| word == lower));
    match (known, word) {
        _ if is_refusal => StopReason::Refusal,
        (Some((StopReason::Answer, _)), _) if has_calls => StopReason::Calls,
        (Some((reason, _)), _) => reason.clone(),
        (None, word) => StopReason::Other(word.unwrap_or_default().to_owned()),
    }
}
