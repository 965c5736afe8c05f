"""What `parse` raises."""

from __future__ import annotations

from guideway.statemachine.errors import GuidewayError


class ExpressionError(GuidewayError):
    """
    The text is no expression.

    `offset` is the code point, from 0, of the word at fault; `help` is the repair, where there is one.

    >>> fault = ExpressionError("`=` is no operator", 7, "write `==` to compare")
    >>> fault.offset, fault.help, str(fault)
    (7, 'write `==` to compare', '`=` is no operator')
    """

    def __init__(self, message: str, offset: int, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.help = help

    def moved(self, by: int) -> ExpressionError:
        """Give the same fault, seen from a text in which the expression begins `by` code points later."""
        return ExpressionError(self.message, self.offset + by, self.help)

    def __reduce__(self) -> tuple[type[ExpressionError], tuple[str, int, str | None]]:
        return ExpressionError, (self.message, self.offset, self.help)
