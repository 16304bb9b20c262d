//! The form of a server's question, one question to the person for each field.

use rmcp::model::{ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};
use tools::call::AskError;
use tools::question::{AnswerKind, InvalidQuestion};
use tools::schema::ValueSchema;
use tools::{Answer, Json, Question, ToolContext, visible_line};

use crate::client::result::plain;

/// The maximum number of fields.
const MAX_FIELDS: usize = 20;

/// The maximum number of answers that do not fit a field.
const MAX_ATTEMPTS: usize = 3;

/// The maximum length of a server's text about a field, in characters.
const MAX_TEXT: usize = 200;

/// The option of a field that may stay empty.
const NO_ANSWER: &str = "(no answer)";

/// One field of a form.
struct Field {
    name: String,
    schema: Value,
    is_required: bool,
}

/// Asks the person for each field of a form, and returns the values. A form without fields is a question for a confirmation.
///
/// # Errors
/// Returns a decline or a cancellation if there are no values.
pub(super) async fn fill(
    cx: &ToolContext,
    message: &str,
    schema: &ElicitationSchema,
) -> Result<Map<String, Value>, ElicitationAction> {
    let names = schema
        .property_order
        .clone()
        .unwrap_or_else(|| schema.properties.keys().cloned().collect());
    if names.len() > MAX_FIELDS {
        return Err(ElicitationAction::Decline);
    }
    let mut values = Map::new();
    if names.is_empty() {
        return match confirm(cx, message).await {
            ElicitationAction::Accept => Ok(values),
            action => Err(action),
        };
    }
    for name in names {
        let required = schema.required.as_ref();
        let is_required = required.is_some_and(|required| required.contains(&name));
        let Some(Ok(schema)) = schema.properties.get(&name).map(serde_json::to_value) else {
            return Err(ElicitationAction::Decline);
        };
        let field = Field {
            name,
            schema,
            is_required,
        };
        if let Some(value) = field.ask(cx, message).await? {
            values.insert(field.name, value);
        }
    }
    Ok(values)
}

impl Field {
    /// Asks until an answer fits. Returns `None` if the field stays empty.
    async fn ask(
        &self,
        cx: &ToolContext,
        message: &str,
    ) -> Result<Option<Value>, ElicitationAction> {
        let schema =
            ValueSchema::new(self.schema.clone()).map_err(|_| ElicitationAction::Decline)?;
        let mut problem = String::new();
        for _ in 0..MAX_ATTEMPTS {
            let text = format!("{message}\n\n{}{problem}", self.label());
            let mut question = Question::new(&text, self.kind());
            if let Ok(question) = &mut question {
                question.may_be_empty = !self.is_required || self.schema.get("default").is_some();
            }
            let value = match self.value(ask(cx, question).await?)? {
                Some(value) => value,
                None if self.is_required => {
                    problem = "\nAn answer is required.".to_owned();
                    continue;
                }
                None => return Ok(None),
            };
            match schema.check(&Json::from(value.clone())) {
                Ok(()) => return Ok(Some(value)),
                Err(violations) => {
                    let violations: Vec<_> = violations.iter().map(ToString::to_string).collect();
                    problem = format!(
                        "\nThat does not fit: {}.",
                        visible_line(&violations.join("; "), MAX_TEXT)
                    );
                }
            }
        }
        Err(ElicitationAction::Cancel)
    }

    /// Returns the title and the description of the field.
    fn label(&self) -> String {
        let text = |key: &str| {
            self.schema[key]
                .as_str()
                .map(|text| visible_line(text, MAX_TEXT))
        };
        let mut label = text("title").unwrap_or_else(|| visible_line(&self.name, MAX_TEXT));
        if let Some(description) = text("description") {
            label += &format!(": {description}");
        }
        match self.schema.get("default") {
            Some(default) => {
                label += &format!(" (default: {})", visible_line(&plain(default), MAX_TEXT))
            }
            None if !self.is_required => label += " (may stay empty)",
            None => {}
        }
        if self.schema["type"] == "array" {
            let (options, _): (Vec<_>, Vec<_>) = self.options().into_iter().unzip();
            label += &format!(
                ", several of {}, separated by commas",
                visible_line(&options.join(", "), MAX_TEXT)
            );
        }
        label
    }

    fn kind(&self) -> AnswerKind {
        if self.schema["type"] == "boolean" {
            return AnswerKind::Confirmation;
        }
        let (mut options, _): (Vec<_>, Vec<_>) = self.options().into_iter().unzip();
        if options.is_empty() || self.schema["type"] == "array" {
            return AnswerKind::Text;
        }
        if !self.is_required {
            options.push(NO_ANSWER.to_owned());
        }
        let choice = AnswerKind::Choice { options };
        // Options that cannot be shown as a choice are typed.
        if Question::new("?", choice.clone()).is_ok() {
            choice
        } else {
            AnswerKind::Text
        }
    }

    /// Returns the options as shown, with their values.
    fn options(&self) -> Vec<(String, Value)> {
        let of = if self.schema["type"] == "array" {
            &self.schema["items"]
        } else {
            &self.schema
        };
        let named: Vec<_> = if let Some(values) = of["enum"].as_array() {
            let names = of["enumNames"].as_array();
            let names = names.filter(|names| names.len() == values.len());
            names.unwrap_or(values).iter().zip(values).collect()
        } else {
            let titled = of["oneOf"].as_array().or_else(|| of["anyOf"].as_array());
            let options = titled.into_iter().flatten();
            let values = options.map(|option| (option.get("title"), &option["const"]));
            values
                .map(|(title, value)| (title.unwrap_or(value), value))
                .collect()
        };
        let options = named.into_iter().map(|(name, value)| {
            let shown = visible_line(&plain(name), Question::MAX_OPTION_CHARS - 1);
            (shown, value.clone())
        });
        options.collect()
    }

    /// Returns the value of an answer, the default of an empty one, or `None` if there is none.
    fn value(&self, answer: Answer) -> Result<Option<Value>, ElicitationAction> {
        let text = match answer {
            Answer::Confirmation(is_yes) => return Ok(Some(is_yes.into())),
            Answer::Text(text) => text.trim().to_owned(),
            Answer::Choice(option) if option == NO_ANSWER => String::new(),
            Answer::Choice(option) => option,
            _ => return Err(ElicitationAction::Decline),
        };
        if text.is_empty() {
            return Ok(self.schema.get("default").cloned());
        }
        let options = self.options();
        Ok(Some(match self.schema["type"].as_str() {
            Some("array") => {
                let parts = text.split(',').map(str::trim);
                parts.map(|part| find_option(&options, part)).collect()
            }
            Some("integer" | "number") => serde_json::from_str(&text).unwrap_or(json!(text)),
            _ => find_option(&options, &text),
        }))
    }
}

/// Returns the value of an option, which the text names or is. Returns the text if there is no such option.
fn find_option(options: &[(String, Value)], text: &str) -> Value {
    let mut options = options.iter();
    let option = options.find(|(shown, value)| shown == text || value == text);
    option.map_or_else(|| text.into(), |(_, value)| value.clone())
}

/// Puts a question to the person.
///
/// # Errors
/// Returns a decline if there is no person, or if the question is no question. Returns a cancellation if the call has ended, or if nobody
/// answered in time.
pub(super) async fn ask(
    cx: &ToolContext,
    question: Result<Question, InvalidQuestion>,
) -> Result<Answer, ElicitationAction> {
    let question = question.map_err(|_| ElicitationAction::Decline)?;
    cx.ask(question).await.map_err(|error| match error {
        AskError::NobodyThere(_) => ElicitationAction::Decline,
        _ => ElicitationAction::Cancel,
    })
}

/// Asks the person for a confirmation.
pub(super) async fn confirm(cx: &ToolContext, text: &str) -> ElicitationAction {
    match ask(cx, Question::new(text, AnswerKind::Confirmation)).await {
        Ok(Answer::Confirmation(true)) => ElicitationAction::Accept,
        Ok(_) => ElicitationAction::Decline,
        Err(action) => action,
    }
}
