"""
The names of span attributes: those of OpenTelemetry's GenAI conventions, and our own under `guideway.`.

They are written out here, so that the names do not change with whatever package is installed; a test compares them
with the released `opentelemetry-semantic-conventions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
"""The version of the conventions that the names are from."""

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT_NAME: Final = "gen_ai.agent.name"
WORKFLOW_NAME: Final = "gen_ai.workflow.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
ERROR_TYPE: Final = "error.type"

INVOKE_AGENT: Final = "invoke_agent"
INVOKE_WORKFLOW: Final = "invoke_workflow"
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"

RUN: Final = "guideway.run.id"
PLAYBOOK: Final = "guideway.playbook.id"
DIGEST: Final = "guideway.playbook.digest"
MODE: Final = "guideway.mode"
STEP: Final = "guideway.step"
FRAME: Final = "guideway.frame"
VERDICT: Final = "guideway.verdict"
CODE: Final = "guideway.code"
CALL_OUTCOME: Final = "guideway.call.outcome"
AUTOMATIC: Final = "guideway.call.automatic"
OUTCOME: Final = "guideway.outcome"
STATUS: Final = "guideway.status"
STOP_REASON: Final = "guideway.stop_reason"
SUCCESS: Final = "guideway.success"
COST: Final = "guideway.usage.cost"
SEGMENT_TURNS: Final = "guideway.turns"

PROVIDERS: Final[Mapping[str, str]] = {
    # the prefix of a model's name -> the provider as the conventions name it
    "anthropic": "anthropic",
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "gateway/anthropic": "anthropic",
    "gateway/openai": "openai",
    "google": "gcp.gemini",
    "google-cloud": "gcp.vertex_ai",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "grok": "x_ai",
    "groq": "groq",
    "mistral": "mistral_ai",
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}


def provider_and_model(name: str) -> tuple[str, str]:
    """
    The provider and the model in a name such as `anthropic:claude-sonnet-4-6`; a name alone stands for both.

    >>> provider_and_model("google-gla:gemini-3-pro"), provider_and_model("fake")
    (('gcp.gemini', 'gemini-3-pro'), ('fake', 'fake'))
    """
    prefix, found, model = name.partition(":")
    return (PROVIDERS.get(prefix, prefix), model) if found else (name, name)
