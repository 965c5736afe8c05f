"""Models by name, as `anthropic:claude-sonnet-4-6` or `openai:gpt-4o`: from a name to something that replies."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

from guideway.runtime.calls import told
from guideway.statemachine.errors import HostError

from .messages import Model, ModelError, ModelReply, ModelRequest, TextDelta

if TYPE_CHECKING:
    from .providers import ProviderModel

Loop = asyncio.AbstractEventLoop
EXTRA = "pip install 'guideway[agent]'"


class Provided:
    """
    A provider's model.

    A provider's connections belong to the event loop in which they were made.  A model made from a name, or by a
    function, is therefore made anew for every loop; a model object that was given serves one loop at a time.  What a
    loop holds open is closed before it ends (`asyncio.run` sees to that), or by `close`.
    """

    def __init__(
        self, name: str, make: Callable[[], ProviderModel], first: ProviderModel, shared: bool = False
    ) -> None:
        self.name = name
        self._make = make
        self._first: ProviderModel | None = first
        """not used in any loop yet, so the first may have it"""
        self._shared = shared
        self._made: dict[Loop, tuple[ProviderModel, AsyncGenerator[None, None]]] = {}
        self._lock = Lock()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Answer; raises `ModelError` where no reply came."""
        return await library().reply(await self._here(), self.name, request)  # type: ignore[no-any-return]

    async def stream(self, request: ModelRequest) -> AsyncIterator[TextDelta | ModelReply]:
        """Pieces of the text while it is written, and at the end the whole reply."""
        async with aclosing(library().stream(await self._here(), self.name, request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Close what the loop that runs holds open; the next request opens it again."""
        made = self._made.get(asyncio.get_running_loop())
        if made is not None:
            await made[1].aclose()

    async def _here(self) -> ProviderModel:
        """The model of the loop that runs."""
        loop = asyncio.get_running_loop()
        with self._lock, library().translated(self.name, "cannot be used"):
            if (made := self._made.get(loop)) is not None:
                return made[0]
            model = self._fresh()
            opened = self._kept_open(loop, model)
            self._made[loop] = (model, opened)
        with library().translated(self.name, "cannot be used"):
            await anext(opened)
        return model

    def _fresh(self) -> ProviderModel:
        for ended in [each for each in self._made if each.is_closed()]:
            del self._made[ended]  # its connections hold the loop, so nothing else would let go of it
        if self._shared and self._made:
            raise ModelError(
                f"the model `{self.name}` is at work in another event loop; give `wrap` a function that makes it",
                "setup",
            )
        if self._first is None:
            return self._make()
        first, self._first = self._first, None
        return first

    async def _kept_open(self, loop: Loop, model: ProviderModel) -> AsyncGenerator[None, None]:
        """A generator, since a loop that ends properly closes those that it has begun."""
        try:
            async with model:
                yield
        finally:
            self._made.pop(loop, None)

    def __repr__(self) -> str:
        return f"Provided({self.name!r})"


def named(name: str) -> Provided:
    """
    A model by its provider and name.

    Raises:
        ModelError: there is no such name, its package is not installed or its key not set; the text says what to do.
    """
    if not isinstance(name, str) or ":" not in name:
        raise ModelError(f"{told(name)} names no model; write PROVIDER:MODEL, as `openai:gpt-4o`", "setup")

    def make() -> ProviderModel:
        with library().translated(name, "cannot be used"):
            return library().infer_model(name)  # type: ignore[no-any-return]

    # What is wrong with the name or the set-up is said now, and not in the middle of a run.
    return Provided(name, make, make())


def wrap(model: ProviderModel | Callable[[], ProviderModel]) -> Provided:
    """
    A model object of pydantic-ai, or a function that makes one, as ours; the function is called once in each loop.

    Raises:
        ModelError: the extra is not installed.
        HostError: it is neither.
    """
    if isinstance(model, library().ProviderModel):
        return Provided(model.model_id, lambda: model, model, shared=True)
    if not callable(model):
        raise HostError(f"wrap takes a Model of pydantic-ai, or a function that makes one, not {told(model)}")
    first = model()
    if not isinstance(first, library().ProviderModel):
        raise HostError(f"the function given to wrap must make a Model of pydantic-ai, and made {told(first)}")
    return Provided(first.model_id, model, first)


def model_of(given: object) -> Model:
    """
    What an agent was given as its model: a name, a model of ours, or one of pydantic-ai.

    Raises:
        ModelError: as `named` does.
        HostError: it is none of these.

    >>> from guideway.runtime.models.fake import FakeModel
    >>> model_of(FakeModel(["Done."])).name
    'fake'
    """
    if isinstance(given, str):
        return named(given)
    if _is_ours(given):
        return given  # type: ignore[return-value]
    if _is_providers(given):
        return wrap(given)  # type: ignore[arg-type]
    raise HostError(
        f"a model is a name such as `openai:gpt-4o`, a FakeModel or FunctionModel, an object with `name` and an async "
        f"`reply(request)`, or a Model of pydantic-ai; {told(given)} is none"
    )


def _is_ours(given: object) -> bool:
    """By its methods; a class is no object of itself."""
    asynchronous = inspect.iscoroutinefunction(getattr(given, "reply", None))
    return asynchronous and isinstance(getattr(given, "name", None), str) and not inspect.isclass(given)


def _is_providers(given: object) -> bool:
    """Looks without importing what may not be installed: who holds such an object has imported it."""
    return any(cls.__module__.startswith("pydantic_ai.") and cls.__name__ == "Model" for cls in type(given).__mro__)


def library() -> Any:
    """
    The file that speaks to providers, imported when it is first needed: that takes about a second.

    Raises:
        ModelError: the extra is not installed.
    """
    try:
        from . import providers
    except ImportError as fault:
        raise ModelError(f"models of providers need an extra ({fault}); install it: {EXTRA}", "setup") from fault
    found: ModuleType = providers
    return found
