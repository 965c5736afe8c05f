"""What an agent is given as its model, and what is said when it is none."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel as ProvidersFunctionModel

from guideway.runtime.models.fake import FakeModel
from guideway.runtime.models.messages import ModelError, ModelReply, ModelRequest, ToolSpec
from guideway.runtime.models.named import model_of, named, wrap
from guideway.statemachine.errors import HostError


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No provider's key is set."""
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(key, raising=False)
    yield


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-sonnet-4-6"])
def test_a_model_by_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    With a key set, a name of either provider makes a model that has this name; nothing is asked yet.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")

    assert model_of(name).name == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-4o", "write PROVIDER:MODEL"),
        ("", "write PROVIDER:MODEL"),
        ("nobody:gpt-4o", "Unknown model: nobody:gpt-4o"),
        ("openai:gpt-4o", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_name_that_cannot_be_used_says_why_at_once(name: str, said: str) -> None:
    """
    An unknown name and a missing key are found when the agent is made, not in the middle of its run.
    """
    with pytest.raises(ModelError, match=said) as got:
        named(name)

    assert got.value.kind == "setup"


def test_without_the_extra_the_error_names_it() -> None:
    """
    Where pydantic-ai is not installed, the repair is said; everything but provider models works.
    """
    program = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from guideway.runtime.models.named import model_of\n"
        "from guideway.runtime.models.fake import FakeModel\n"
        "from guideway.runtime.models.tools import tool_of\n"
        "assert model_of(FakeModel(['ok'])).name == 'fake'\n"
        "try: model_of('openai:gpt-4o')\n"
        "except Exception as fault: print(type(fault).__name__, fault)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.startswith("ModelError")
    assert "pip install 'guideway[agent]'" in done.stdout


def test_models_are_imported_without_the_provider_library() -> None:
    """
    Tools and models of the program's own never import pydantic-ai, which takes a second.
    """
    program = (
        "import sys, guideway.runtime.models.named, guideway.runtime.models.fake, guideway.runtime.models.tools\n"
        "print('pydantic_ai' in sys.modules, 'pydantic' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]


class Mine:
    """A model written by a program."""

    name = "mine"

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Answer."""
        return ModelReply("ok")


def test_any_object_with_the_methods_is_a_model() -> None:
    """
    Our protocol is enough, without a base class.
    """
    model = Mine()

    assert model_of(model) is model


@pytest.mark.parametrize("given", [3, None, object(), Mine, lambda request: "ok", FakeModel])
def test_what_is_no_model_is_refused(given: Any) -> None:
    """
    The message lists what is one.
    """
    with pytest.raises(HostError, match="a model is a name such as `openai:gpt-4o`"):
        model_of(given)


def test_a_function_that_makes_no_model_is_refused() -> None:
    """
    `wrap` looks at what the function made.
    """
    with pytest.raises(HostError, match="must make a Model"):
        wrap(lambda: "openai:gpt-4o")  # type: ignore[arg-type, return-value]


def test_a_model_object_of_the_library_is_taken_as_it_is() -> None:
    """
    The library's own test models work too.
    """
    given = ProvidersFunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("ok")]))

    reply = asyncio.run(model_of(given).reply(ModelRequest([{"role": "user", "content": "look"}])))

    assert reply.text == "ok"


def test_what_a_model_thought_goes_back_to_it_unless_the_reply_was_changed() -> None:
    """
    Signed thoughts come back to the provider with the reply they belong to, and not with one that a hook has changed.
    """
    heard: list[list[str]] = []

    def think(messages: list[Any], info: Any) -> ModelResponse:
        answers = [message for message in messages if isinstance(message, ModelResponse)]
        heard.append([part.part_kind for message in answers for part in message.parts])
        thought = ThinkingPart("I should look.", signature="s1", provider_name="function")
        return ModelResponse(parts=[thought, ToolCallPart("look", {"a": 1}, "c1")])

    model = wrap(ProvidersFunctionModel(think))
    user = {"role": "user", "content": "look"}
    tools = (ToolSpec("look"),)
    first = asyncio.run(model.reply(ModelRequest([user], tools)))
    changed = {**first.as_message(), "content": "Something else."}
    for message in (first.as_message(), changed):
        answer = {"role": "tool", "call_id": "c1", "name": "look", "content": "ok"}
        asyncio.run(model.reply(ModelRequest([user, message, answer], tools)))

    assert heard == [[], ["thinking", "tool-call"], ["text", "tool-call"]]


def test_a_failure_in_the_librarys_own_model_does_not_escape() -> None:
    """
    Whatever a provider's code raises becomes a `ModelError`, with that as its cause.
    """

    def broken(messages: list[Any], info: Any) -> ModelResponse:
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ModelError, match="division by zero") as got:
        asyncio.run(wrap(ProvidersFunctionModel(broken)).reply(ModelRequest([{"role": "user", "content": "x"}])))
    assert isinstance(got.value.__cause__, ZeroDivisionError)
