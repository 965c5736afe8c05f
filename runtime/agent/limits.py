"""What a run may cost: limits of the host's, beside those of the playbook; and what tokens cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from guideway.runtime.calls import Usage, told
from guideway.statemachine.errors import HostError

LONGEST = 100 * 365.25 * 24 * 3600
"""Seconds."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """
    Budgets of one run, over all its segments; None: no limit.  A limit is never a goal: it ends `stopped:…`.

    Args:
        tokens: of the model, both ways together.
        cost: in the currency of the price table.
        seconds: of the clock, waiting included.
        calls: tools run for the model; calls of the playbook's own are its own affair.
        refusals: turns in a row in which every call was refused; the playbook's `max_refusals` holds beside it.
        max_iterations: turns.
        max_repeats: the same call with the same result so many times in a row is a loop.
        context_window: tokens that the model can take in; a request that has filled it is the last.
        model_retries: how often hooks may have one reply made anew.

    Raises:
        HostError: a limit is no number above 0.

    >>> AgentLimits(tokens=0)
    Traceback (most recent call last):
    guideway.statemachine.errors.HostError: the limit `tokens` is a number above 0, or None, not 0
    """

    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    calls: int | None = None
    refusals: int | None = None
    max_iterations: int | None = None
    max_repeats: int | None = 3
    context_window: int | None = None
    model_retries: int = 3

    def __post_init__(self) -> None:
        for each in fields(self):
            value, real = getattr(self, each.name), each.name in ("cost", "seconds")
            if value is None and each.name != "model_retries":
                continue
            right = isinstance(value, int | float) if real else isinstance(value, int)
            if isinstance(value, bool) or not right or not 0 < value < math.inf:
                raise HostError(f"the limit `{each.name}` is a number above 0, or None, not {told(value)}")
        if self.seconds is not None and self.seconds > LONGEST:
            raise HostError(f"the limit `seconds` is at most {LONGEST:.0f} (a hundred years), or None")


@dataclass(frozen=True, slots=True)
class Price:
    """
    What a million tokens cost, those a model reads and those it writes.

    Raises:
        HostError: a price is no number from 0 on: a limit on the cost would never be reached.
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        for value in (self.input, self.output):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise HostError(f"a price is a number from 0 on, not {told(value)}")


PriceTable = Mapping[str, Price | tuple[float, float]]
"""Name of a model -> its price; `*` stands for every other.  Names match whole, or after their provider (`openai:`)."""


def price_of(model: str, prices: PriceTable) -> Price | None:
    """
    The price of a model.

    >>> price_of("openai:gpt-4o", {"gpt-4o": Price(2.5, 10.0)})
    Price(input=2.5, output=10.0)
    """
    found = next((prices[name] for name in (model, model.partition(":")[2], "*") if name and name in prices), None)
    return Price(*found) if isinstance(found, tuple) else found


def cost_of(usage: Usage, price: Price | None) -> float:
    """
    What a reply cost; one that says its own cost is believed, tokens of no known direction count as written.

    >>> round(cost_of(Usage(input_tokens=1_000, output_tokens=500), Price(2.5, 10.0)), 4)
    0.0075
    """
    if usage.cost or price is None:
        return usage.cost
    loose = max(0, usage.tokens - usage.input_tokens - usage.output_tokens)
    return (usage.input_tokens * price.input + (usage.output_tokens + loose) * price.output) / 1_000_000
