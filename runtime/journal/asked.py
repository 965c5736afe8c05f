"""Predicates are the host's, so what they answered is kept, and not asked again when a run is replayed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Predicate = Callable[[Mapping[str, Any]], bool]


class Asked(Mapping[str, Predicate]):
    """
    The predicates of a run: their answers are noted inside a verb; replayed ones come first.

    >>> asked = Asked({"is_vip": lambda names: True})
    >>> asked["is_vip"]({}), asked.flush()
    (True, [['is_vip', True]])
    >>> asked.feed([["is_vip", False]])
    >>> asked["is_vip"]({})
    False
    """

    def __init__(self, predicates: Mapping[str, Predicate] | None) -> None:
        self._predicates = dict(predicates or {})
        self._answers: list[list[Any]] = []
        self._fed: deque[list[Any]] = deque()
        self.inside: Callable[[], bool] = lambda: True
        """a verb is at work; what is asked outside of one, to look ahead, is not noted"""

    def __getitem__(self, name: str) -> Predicate:
        predicate = self._predicates[name]
        return lambda names: self._ask(name, predicate, names)

    def _ask(self, name: str, predicate: Predicate, names: Mapping[str, Any]) -> bool:
        if self._fed and self._fed[0][0] == name:
            answer = self._fed.popleft()[1]
        else:
            try:
                answer = predicate(names)
            except Exception:
                answer = None
        if self.inside():
            self._answers.append([name, answer if isinstance(answer, bool) else None])
        if not isinstance(answer, bool):
            raise TypeError(f"the predicate {name!r} gave no yes or no")
        return answer

    def feed(self, answers: Iterable[list[Any]]) -> None:
        """Give these answers next, in place of those of the functions."""
        self._fed = deque(answers)

    def flush(self) -> list[list[Any]]:
        """What was answered since the last time; None stands for no yes or no."""
        answers, self._answers = self._answers, []
        return answers

    def __iter__(self) -> Iterator[str]:
        return iter(self._predicates)

    def __len__(self) -> int:
        return len(self._predicates)
