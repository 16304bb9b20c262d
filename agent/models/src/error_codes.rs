//! The codes and the words of services for each kind of error.

use agent::FailureKind;

/// The codes and types of services by kind, without case and punctuation. Each is more specific than a status. The sources are the
/// error pages of OpenAI, Azure, Anthropic, Google, Mistral, Groq, OpenRouter, DeepSeek, Moonshot, DashScope and llama.cpp.
pub(crate) const CODES: &[(FailureKind, &[&str])] = &[
    (
        FailureKind::Quota,
        &[
            "insufficientquota",
            "billingerror",
            "billingnotactive",
            "billinghardlimitreached",
            "insufficientbalance",
            "insufficientcredits",
            "exceededcurrentquotaerror",
            "paymentrequired",
            "arrearage",
        ],
    ),
    (
        FailureKind::Authentication,
        &[
            "authenticationerror",
            "invalidapikey",
            "apikeyinvalid",
            "missingapikey",
            "invalidauthentication",
            "invalidauthenticationerror",
            "unauthenticated",
            "unauthorized",
        ],
    ),
    (
        FailureKind::Permission,
        &[
            "permissionerror",
            "permissiondenied",
            "permissiondeniederror",
            "forbidden",
        ],
    ),
    (
        FailureKind::RateLimit,
        &[
            "ratelimiterror",
            "ratelimitexceeded",
            "ratelimitreached",
            "ratelimitreachederror",
            "ratelimited",
            "toomanyrequests",
            "resourceexhausted",
            "throttling",
        ],
    ),
    (
        FailureKind::Overloaded,
        &[
            "overloadederror",
            "overloaded",
            "engineoverloaded",
            "engineoverloadederror",
            "serveroverloaded",
            "serviceunavailable",
            "serviceunavailableerror",
            "unavailable",
            "unavailableerror",
            "slowdown",
        ],
    ),
    (
        FailureKind::ContextLength,
        &[
            "contextlengthexceeded",
            "contextwindowexceeded",
            "exceedcontextsizeerror",
            "toomanyprompttokens",
            "requesttoolarge",
        ],
    ),
    (
        FailureKind::ContentPolicy,
        &[
            "contentfilter",
            "contentpolicyviolation",
            "responsibleaipolicyviolation",
            "moderationblocked",
            "datainspectionfailed",
            "invalidprompt",
        ],
    ),
    (
        FailureKind::BadSchema,
        &[
            "invalidfunctionparameters",
            "invalidjsonschema",
            "invalidtoolschema",
        ],
    ),
    (
        FailureKind::UnknownModel,
        &[
            "modelnotfound",
            "modelnotfounderror",
            "invalidmodel",
            "modeldecommissioned",
            "deploymentnotfound",
        ],
    ),
    // Groq's model wrote a call or a document that Groq cannot read.
    (
        FailureKind::MalformedReply,
        &["toolusefailed", "jsonvalidatefailed"],
    ),
];

/// The codes that say no more than a status, such as that of an unknown model under 404.
pub(crate) const GENERAL_CODES: &[(FailureKind, &[&str])] = &[
    (
        FailureKind::Internal,
        &[
            "apierror",
            "servererror",
            "internalservererror",
            "internal",
            "internalerror",
        ],
    ),
    (FailureKind::UnknownModel, &["notfounderror", "notfound"]),
    (
        FailureKind::BadRequest,
        &[
            "invalidrequesterror",
            "invalidargument",
            "badrequest",
            "badrequesterror",
            "invalidrequest",
        ],
    ),
];

/// The only rules that read messages: these services give the kind in no code. Each has its source: a recorded reply, or a page.
pub(crate) const MESSAGES: &[(FailureKind, &str)] = &[
    // Anthropic, recorded: `invalid_request_error`, "prompt is too long: 3333404 tokens > 200000 maximum".
    (FailureKind::ContextLength, "prompt is too long"),
    // DeepSeek and OpenRouter, recorded; vLLM words it alike: "This model's maximum context length is 1048565 tokens."
    (FailureKind::ContextLength, "maximum context length is"),
    // Ollama's service, recorded: "prompt too long; exceeded max context length by 1119046 tokens".
    (FailureKind::ContextLength, "exceeded max context length"),
    // Gemini, recorded: "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."
    (
        FailureKind::ContextLength,
        "exceeds the maximum number of tokens allowed",
    ),
    // Anthropic, github.com/docker/docker-agent/issues/569: "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000".
    (FailureKind::ContextLength, "exceed context limit"),
    // xAI, github.com/cline/cline/issues/3120: "This model's maximum prompt length is 131072 but the request contains 136973 tokens."
    (FailureKind::ContextLength, "maximum prompt length is"),
    // Mistral, portkey.ai/error-library/context-length-exceeded-error-13710000: "Prompt contains 66385 tokens, too large for model with
    // 32768 maximum context length".
    (FailureKind::ContextLength, "too large for model with"),
    // Bedrock behind a gateway, github.com/aws-samples/bedrock-chat/issues/95: "Input is too long for requested model."
    (
        FailureKind::ContextLength,
        "Input is too long for requested model",
    ),
    // LM Studio, github.com/Gitlawb/openclaude/issues/353: "The number of tokens to keep from the initial prompt is greater than the
    // context length (n_keep: 13055>= n_ctx: 4096)."
    (
        FailureKind::ContextLength,
        "greater than the context length",
    ),
    // LM Studio before, github.com/lmstudio-ai/lmstudio-bug-tracker/issues/237: "Trying to keep the first 15857 tokens when context the
    // overflows."
    (FailureKind::ContextLength, "when context the overflows"),
    // Kimi, github.com/MoonshotAI/kimi-cli/issues/2011: "Your request exceeded model token limit: 262144 (requested: 269030)".
    (FailureKind::ContextLength, "exceeded model token limit"),
    // MiniMax, github.com/MiniMax-AI/MiniMax-M2/issues/119: "invalid params, context window exceeds limit (2013)".
    (FailureKind::ContextLength, "context window exceeds limit"),
    // vLLM, vllm/entrypoints/renderer.py: "the model's context length is only 4096 tokens, resulting in a maximum input length of …".
    (FailureKind::ContextLength, "context length is only"),
    // llama.cpp before its type of error, tools/server: status 500, "the request exceeds the available context size. try increasing …".
    (
        FailureKind::ContextLength,
        "exceeds the available context size",
    ),
    // llama-cpp-python, llama_cpp/llama.py: status 500, "Requested tokens (8683) exceed context window of 4096".
    (FailureKind::ContextLength, "exceed context window of"),
    // Text Generation Inference and Together, router/src/validation.rs: status 422, "`inputs` tokens + `max_new_tokens` must be <= 4096."
    // and "`inputs` must have less than 4096 tokens."
    (FailureKind::ContextLength, "`max_new_tokens` must be <="),
    (FailureKind::ContextLength, "`inputs` must have less than"),
    // SGLang, python/sglang/srt/managers/tokenizer_manager.py: "is longer than the model's context length (4096 tokens)", "exceeds the
    // maximum allowed length (4096 tokens)", "exceeds the model's maximum context length of 4096 tokens".
    (
        FailureKind::ContextLength,
        "longer than the model's context length",
    ),
    (
        FailureKind::ContextLength,
        "exceeds the maximum allowed length",
    ),
    (FailureKind::ContextLength, "maximum context length of"),
    // Cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4096 - received 8682".
    (
        FailureKind::ContextLength,
        "tokens in the prompt cannot exceed",
    ),
    // TabbyAPI, endpoints/OAI: "Prompt length 8682 is greater than max_seq_len 4096".
    (FailureKind::ContextLength, "greater than max_seq_len"),
    // watsonx.ai: "the number of input tokens 8682 cannot exceed the total tokens limit 4096 for this model".
    (
        FailureKind::ContextLength,
        "cannot exceed the total tokens limit",
    ),
    // Zhipu, docs.bigmodel.cn, code 1261: "Prompt exceeds max length".
    (FailureKind::ContextLength, "Prompt exceeds max length"),
    // xAI, recorded: status 400, code `invalid-argument`, "Incorrect API key provided."
    (FailureKind::Authentication, "Incorrect API key provided"),
    // Anthropic, github.com/anthropics/anthropic-sdk-typescript: status 400, `invalid_request_error`.
    (FailureKind::Quota, "Your credit balance is too low"),
    // Anthropic, docs.anthropic.com, "Errors": status 400, `invalid_request_error`.
    (
        FailureKind::ContentPolicy,
        "Output blocked by content filtering policy",
    ),
    // llama.cpp, common/chat-parser.cpp and tools/server: status 500, `server_error`, "Failed to parse input at pos 12: …".
    (FailureKind::MalformedReply, "Failed to parse input at pos"),
    // llama.cpp: "Failed to parse tool call arguments as JSON: …".
    (
        FailureKind::MalformedReply,
        "Failed to parse tool call arguments",
    ),
    // llama.cpp: "The model produced output that does not match the expected … format".
    (
        FailureKind::MalformedReply,
        "model produced output that does not match the expected",
    ),
    // Ollama, server/routes.go: status 500, "error parsing tool call: raw='…', err=…".
    (FailureKind::MalformedReply, "error parsing tool call"),
    // vLLM and SGLang: "Error in extracting tool call from response".
    (FailureKind::MalformedReply, "extracting tool call"),
    // Anthropic names the place first: "tools.0.custom.input_schema: JSON schema is invalid."
    (FailureKind::BadSchema, ".input_schema: "),
    // Gemini names the place first: "* GenerateContentRequest.tools[0].function_declarations[0].parameters…"
    (FailureKind::BadSchema, ".function_declarations["),
];
