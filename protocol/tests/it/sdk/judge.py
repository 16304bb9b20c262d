"""Validates tools, calls, results and whole requests against the types of the services' own SDKs.

Reads one JSON object a line from standard input: `format`, `kind` (tool, strict tool, call, result or request) and `value`. The arguments are the
kinds of which every format must have a value. Also plants violations in the first values of each kind, which the types must refuse. Prints the
numbers, and fails with the first values that are judged wrongly.
"""

import copy
import json
import sys
from collections import Counter

import anthropic
import anthropic.types
import anthropic.types.message_create_params as messages
import mcp_types
import ollama
import ollama._types
import openai.types.chat
import openai.types.chat.completion_create_params as completions
import openai.types.responses
import openai.types.responses.response_create_params as responses
from openai.lib._pydantic import _ensure_strict_json_schema
from google.genai import types as genai
from pydantic import BaseModel, TypeAdapter, ValidationError


def plain(value):
    """Returns a validated value as JSON. Runs the lazy validation of iterables."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return [plain(inner) for inner in value]


def exactly(kind):
    """Returns a check that also refuses fields that the type does not have."""
    adapter = TypeAdapter(kind)

    def check(value):
        read = plain(adapter.validate_python(value))
        if read != value:
            raise ValueError(f"read as {json.dumps(read)[:300]}")

    return check


def leniently(kind):
    """Returns a check for a type with a configuration of its own for other fields."""
    return kind.model_validate


def strictly(kind, parameters, make_strict):
    """Returns a check for a strict tool, whose schema the SDK's own function that makes schemas strict does not change."""

    def check(value):
        exactly(kind)(value)
        function = value.get("function", value)
        if function["strict"] is not True:
            raise ValueError("not strict")
        make_strict(function[parameters])

    return check


def openai_strict(schema):
    # The order of the names does not matter.
    schema = mapped(schema, lambda key, value: sorted(value) if key == "required" and isinstance(value, list) else value)
    made = _ensure_strict_json_schema(copy.deepcopy(schema), path=(), root=schema)
    made = mapped(made, lambda key, value: sorted(value) if key == "required" and isinstance(value, list) else value)
    if made != schema:
        raise ValueError(f"made strict: {json.dumps(made)[:300]}")


def anthropic_strict(schema):
    # The function moves what is not supported to the description, and leaves out other members.
    schema = plainer(schema)
    made = anthropic.transform_schema(copy.deepcopy(schema))
    if not is_within(mapped(made, lambda key, value: None if (key, value) == ("format", "text") else value), schema):
        raise ValueError(f"made strict: {json.dumps(made)[:300]}")


def plainer(schema):
    """Returns the schema without lists of types, types beside values, defaults and patterns.

    The service takes them and the function does not. Its rule file judges which patterns. The service's list:
    https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
    """
    if isinstance(schema, list):
        return [plainer(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    has_values = isinstance(schema.get("enum"), list) or "const" in schema
    members = {key: inner for key, inner in schema.items() if not (has_values and key in ("type", "items"))}
    for key in ("default", "pattern"):
        members.pop(key, None)
    if isinstance(members.get("type"), list):
        members["type"] = members["type"][0]
    return {key: plainer(inner) if key not in NAMED else {name: plainer(one) for name, one in inner.items()} for key, inner in members.items()}


# The keywords whose members are schemas with names.
NAMED = ("properties", "$defs", "patternProperties")


def is_within(part, whole):
    """Returns true if the members of one JSON value are members of another."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_within(inner, whole[key]) for key, inner in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(is_within, part, whole))
    return part == whole


def mapped(schema, change):
    """Returns the JSON with each member changed, and without those that become None."""
    if isinstance(schema, list):
        return [mapped(inner, change) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    members = {key: change(key, inner) for key, inner in schema.items()}
    return {key: mapped(inner, change) for key, inner in members.items() if inner is not None}


def ollama_message(value):
    """Checks a message whose images are base64 texts, as on the wire. The type has objects for them."""
    images = value.get("images")
    if isinstance(images, list):
        value = value | {"images": [ollama.Image(value=image) for image in images]}
    ollama.Message.model_validate(value)


def request(whole, streamed):
    """Returns a check of a body, whose type depends on its own member."""
    checks = {False: exactly(whole), True: exactly(streamed)}
    return lambda body: checks[body.get("stream", False)](body)


# The members of Gemini's bodies. The SDK has one type of its own for all but the contents, and writes these from it.
GEMINI_REQUEST = {
    "contents": list[genai.Content],
    "systemInstruction": genai.Content,
    "tools": list[genai.Tool],
    "toolConfig": genai.ToolConfig,
    "safetySettings": list[genai.SafetySetting],
    "generationConfig": genai.GenerationConfig,
}


def gemini_request(body):
    if "contents" not in body:
        raise ValueError("no contents")
    for key, value in body.items():
        if key not in GEMINI_REQUEST:
            raise ValueError(f"there is no {key}")
        # In the JSON of protocol buffers, null means that the member is absent.
        if value is not None:
            TypeAdapter(GEMINI_REQUEST[key]).validate_python(value)


def ollama_request(body):
    """Checks a body and its messages, whose types would accept other members."""
    for kind, value in [(ollama._types.ChatRequest, body), *((ollama.Message, message) for message in body["messages"])]:
        # The service has the id of a result since its calls have ids. The type of this SDK lacks it.
        if others := value.keys() - kind.model_fields.keys() - {"tool_call_id"}:
            raise ValueError(f"there is no {others}")
    for message in body["messages"]:
        ollama_message(message)
    ollama._types.ChatRequest.model_validate({key: value for key, value in body.items() if key != "messages"})


CHECKS = {
    ("openai-chat", "tool"): exactly(openai.types.chat.ChatCompletionFunctionToolParam),
    ("openai-chat", "strict tool"): strictly(openai.types.chat.ChatCompletionFunctionToolParam, "parameters", openai_strict),
    ("openai-chat", "call"): exactly(openai.types.chat.ChatCompletionMessageParam),
    ("openai-chat", "result"): exactly(openai.types.chat.ChatCompletionMessageParam),
    ("openai-responses", "tool"): exactly(openai.types.responses.FunctionToolParam),
    ("openai-responses", "strict tool"): strictly(openai.types.responses.FunctionToolParam, "parameters", openai_strict),
    ("openai-responses", "call"): exactly(openai.types.responses.ResponseFunctionToolCallParam),
    ("openai-responses", "result"): exactly(openai.types.responses.response_input_item_param.FunctionCallOutput),
    ("anthropic", "tool"): exactly(anthropic.types.ToolParam),
    ("anthropic", "strict tool"): strictly(anthropic.types.ToolParam, "input_schema", anthropic_strict),
    ("anthropic", "call"): exactly(anthropic.types.MessageParam),
    ("anthropic", "result"): exactly(anthropic.types.MessageParam),
    ("gemini", "tool"): leniently(genai.FunctionDeclaration),
    ("gemini", "call"): leniently(genai.Content),
    ("gemini", "result"): leniently(genai.Content),
    ("ollama", "tool"): leniently(ollama.Tool),
    ("ollama", "call"): ollama_message,
    ("ollama", "result"): ollama_message,
    ("mcp", "tool"): exactly(mcp_types.Tool),
    ("mcp", "call"): exactly(mcp_types.CallToolRequestParams),
    ("mcp", "result"): exactly(mcp_types.CallToolResult),
    ("openai-chat", "request"): request(completions.CompletionCreateParamsNonStreaming, completions.CompletionCreateParamsStreaming),
    ("openai-responses", "request"): request(responses.ResponseCreateParamsNonStreaming, responses.ResponseCreateParamsStreaming),
    ("anthropic", "request"): request(messages.MessageCreateParamsNonStreaming, messages.MessageCreateParamsStreaming),
    ("gemini", "request"): gemini_request,
    ("ollama", "request"): ollama_request,
}

# The place and the new value. `...` removes the place.
PLANTED = {
    ("openai-chat", "strict tool"): [
        ("function/strict", False), ("function/parameters/additionalProperties", ...), ("function/parameters/required", ["path"]),
        ("function/parameters/properties/limit", {"$ref": "#/properties/path", "description": "x"}),
    ],
    ("openai-responses", "strict tool"): [
        ("strict", False), ("parameters/additionalProperties", ...), ("parameters/required", ["path"]),
    ],
    ("anthropic", "strict tool"): [
        ("strict", False), ("input_schema/additionalProperties", ...), ("input_schema/properties/path/minLength", 1),
        ("input_schema/properties/path/format", "regex"), ("input_schema/properties/limit", {"oneOf": [{"type": "integer"}]}),
    ],
    ("openai-chat", "tool"): [
        ("function", ...), ("function/name", ...), ("function/name", 1), ("function/parameters", []),
        ("function/strict", "yes"), ("function/examples", []), ("type", "tool"),
    ],
    ("openai-chat", "call"): [
        ("tool_calls/0/id", ...), ("tool_calls/0/function/arguments", {}), ("tool_calls/0/function/name", ...), ("role", "model"),
    ],
    ("openai-chat", "result"): [("tool_call_id", ...), ("content", ...), ("content", {}), ("is_error", True)],
    ("openai-responses", "tool"): [("name", ...), ("parameters", ...), ("strict", ...), ("strict", "yes"), ("input_schema", {})],
    ("openai-responses", "call"): [("call_id", ...), ("arguments", {}), ("name", ...), ("type", "tool_call")],
    ("openai-responses", "result"): [("output", ...), ("output", {}), ("is_error", True), ("type", "tool_result")],
    ("anthropic", "tool"): [
        ("name", ...), ("input_schema", ...), ("input_schema", []), ("parameters", {}), ("strict", "yes"), ("input_examples", [1]),
    ],
    ("anthropic", "call"): [
        ("content/0/id", ...), ("content/0/input", ...), ("content/0/input", "{}"), ("content/0/thoughtSignature", ""),
    ],
    ("anthropic", "result"): [
        ("content/0/tool_use_id", ...), ("content/0/name", "f"), ("content/0/is_error", "yes"),
        ("content/0/content", [{"type": "audio"}]),
        ("content/0/content", [{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}}]),
    ],
    ("gemini", "tool"): [("name", 1), ("input_schema", {}), ("strict", True)],
    ("gemini", "call"): [("parts/0/functionCall/args", "{}"), ("parts/0/functionCall/arguments", {}), ("parts/0/tool_use", {})],
    ("gemini", "result"): [
        ("parts/0/functionResponse/response", "x"), ("parts/0/functionResponse/is_error", True),
        ("parts/0/functionResponse/parts", [{"text": "x"}]),
    ],
    ("ollama", "tool"): [("function/name", 1), ("function/parameters/type", "array"), ("function/parameters/properties", [])],
    ("ollama", "call"): [("role", ...), ("tool_calls/0/function/name", ...), ("tool_calls/0/function/arguments", "{}")],
    ("ollama", "result"): [("role", ...), ("content", []), ("tool_name", 1), ("images", "aGk="), ("images", [1])],
    ("mcp", "tool"): [("name", ...), ("inputSchema", ...), ("input_schema", {}), ("annotations/readOnlyHint", "unknown")],
    ("mcp", "call"): [("name", ...), ("arguments", "{}"), ("input", {})],
    ("mcp", "result"): [("content", ...), ("content/0/type", "picture"), ("is_error", True)],
    ("openai-chat", "request"): [
        ("model", ...), ("messages", ...), ("messages/1/strict", True), ("tools/0/eager_input_streaming", True), ("cache_control", {}),
        ("max_tokens", "1"),
    ],
    ("openai-responses", "request"): [
        ("input/0/strict", True), ("input/0/role", "tool"), ("tools/0/function", {}), ("messages", []), ("store", "no"),
    ],
    ("anthropic", "request"): [
        ("max_tokens", ...), ("messages", ...), ("messages/0/strict", True), ("tools/0/parameters", {}), ("store", False),
        ("messages/0/role", "tool"),
    ],
    ("gemini", "request"): [
        ("contents", ...), ("contents/0/strict", True), ("tools/0/functionDeclarations/0/eager_input_streaming", True), ("model", "m"),
        ("generationConfig", {"max_tokens": 1}),
    ],
    ("ollama", "request"): [
        ("messages/0/role", ...), ("messages/0/strict", True), ("tools/0/function/parameters/type", "array"), ("max_tokens", 1),
        ("stream", "sometimes"),
    ],
}


def planted(value, place, change):
    """Returns the value with a change, or None if it does not have the place."""
    value = copy.deepcopy(value)
    *parents, last = place.split("/")
    inner = value
    for parent in parents:
        inner = inner[int(parent)] if isinstance(inner, list) else inner.get(parent)
        if inner is None:
            return None
    if change is ...:
        del inner[last]
    else:
        inner[last] = change
    return value


def refusal(key, value):
    """Returns the reason for which a value is refused, or None."""
    try:
        CHECKS[key](value)
    except (ValidationError, ValueError) as error:
        return str(error)[:600]
    return None


def main():
    seen, refused, wrong = Counter(), Counter(), []
    for line in sys.stdin:
        row = json.loads(line)
        key, value = (row["format"], row["kind"]), row["value"]
        if (reason := refusal(key, value)) is not None:
            wrong.append(f"{key} refused: {json.dumps(value)[:600]}\n{reason}")
        if seen[key] == 0:
            for place, change in PLANTED[key]:
                change_made = planted(value, place, change)
                if change_made is None or refusal(key, change_made) is None:
                    wrong.append(f"{key} accepted {place}: {json.dumps(change_made)[:600]}")
                refused[key] += 1
        seen[key] += 1
    asked = [key for key in CHECKS if key[1] in sys.argv[1:]]
    wrong += [f"no value for {key}" for key in asked if not seen[key]]
    for key in asked:
        print(f"{' '.join(key)}: {seen[key]} values, {refused[key]} planted violations", file=sys.stderr)
    if wrong:
        sys.exit("\n\n".join(wrong[:10]))


main()
