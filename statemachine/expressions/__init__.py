"""
The expression language of playbooks: closed, total, typed, linear in time.

CEL's syntax and strict meaning (https://github.com/google/cel-spec), an own parser that knows the place of every
word, and three truth values.  docs/expressions.md is the language by example.
"""

from .errors import ExpressionError
from .expression import Expression, parse
from .inference import condition_problems, doubts_of, type_of
from .names import FUNCTIONS, MACROS, ROOTS
from .paths import Read, show
from .plain import plain, text_of
from .schemas import type_from_schema
from .templates import Form, Template, compile_value, fill, parse_template
from .terms import Terms, term_cycle
from .types import (
    BOOL,
    DURATION,
    DYNAMIC,
    FLOAT,
    INT,
    NULL,
    NUMBER,
    STRING,
    TIMESTAMP,
    Type,
    TypeProblem,
    list_of,
    map_of,
)
from .unknown import Unknown

__all__ = [
    "BOOL",
    "DURATION",
    "DYNAMIC",
    "FLOAT",
    "FUNCTIONS",
    "INT",
    "MACROS",
    "NULL",
    "NUMBER",
    "ROOTS",
    "STRING",
    "TIMESTAMP",
    "Expression",
    "ExpressionError",
    "Form",
    "Read",
    "Template",
    "Terms",
    "Type",
    "TypeProblem",
    "Unknown",
    "compile_value",
    "condition_problems",
    "doubts_of",
    "fill",
    "list_of",
    "map_of",
    "parse",
    "parse_template",
    "plain",
    "show",
    "term_cycle",
    "text_of",
    "type_from_schema",
    "type_of",
]
