"""Our attribute names against the released package of conventions."""

from __future__ import annotations

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv.attributes import error_attributes
from opentelemetry.semconv.schemas import Schemas

from guideway.runtime.telemetry import names

CONSTANTS = {name: value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}


def test_every_name_is_one_of_the_conventions_or_ours() -> None:
    """
    Each `gen_ai.` and `error.` name stands in the released package, and every other is under `guideway.`.
    """
    released = {value for name, value in vars(gen_ai).items() if name.startswith("GEN_AI_")}
    used = {value for value in CONSTANTS.values() if "." in value and not value.startswith("https:")}

    assert {name for name in used if name.startswith("gen_ai.")} <= released
    assert names.ERROR_TYPE == error_attributes.ERROR_TYPE
    assert {name.split(".")[0] for name in used} == {"gen_ai", "error", "guideway"}
    assert len({name for name in used if name.startswith("gen_ai.")}) == 18


def test_no_name_is_deprecated() -> None:
    """
    Names that the conventions have taken back (`gen_ai.system`, `gen_ai.prompt` …) are not used.
    """
    gone = {gen_ai.GEN_AI_SYSTEM, gen_ai.GEN_AI_PROMPT, gen_ai.GEN_AI_COMPLETION,
            gen_ai.GEN_AI_USAGE_PROMPT_TOKENS, gen_ai.GEN_AI_USAGE_COMPLETION_TOKENS}  # fmt: skip

    assert not gone & set(CONSTANTS.values())


def test_operations_and_providers_are_those_of_the_conventions() -> None:
    """
    Names of operations and of providers are values that the package lists.
    """
    operations = {value.value for value in gen_ai.GenAiOperationNameValues}
    providers = {value.value for value in gen_ai.GenAiProviderNameValues}

    assert {names.INVOKE_AGENT, names.INVOKE_WORKFLOW, names.CHAT, names.EXECUTE_TOOL} <= operations
    assert set(names.PROVIDERS.values()) <= providers


def test_the_schema_is_one_that_the_package_knows() -> None:
    """
    The schema address names a released version of the conventions.
    """
    assert names.SCHEMA_URL in {schema.value for schema in Schemas}
