"""What people write who come from another language, and the repair for it."""

from __future__ import annotations

FOREIGN_OPERATORS: dict[str, tuple[str, str]] = {
    "===": ("`===` is no operator", "write `==` to compare"),
    "!==": ("`!==` is no operator", "write `!=` to compare"),
    "=~": ("`=~` is no operator", "write `x.matches(\"pattern\")`"),
    "<>": ("`<>` is no operator", "write `!=`"),
    "**": ("there is no power operator", "multiply: `x * x`"),
    "//": ("`//` is no operator, and an expression holds no comments",
           "`/` on two ints already drops the rest; put comments after `#` in the YAML"),
    "??": ("`??` is no operator", "write `default(x, other)`"),
    "{{": ("`{{` has no place inside an expression", "write the expression alone: this place already reads one"),
    "}}": ("`}}` has no place inside an expression", "write the expression alone: this place already reads one"),
    "${": ("`${…}` is no part of an expression", "write the name alone, as in `facts.lookup.score`"),
    "$.": ("`$.` is no part of an expression", "begin with a root name, as in `facts.lookup.score`"),
    "->": ("`->` is no operator", "write `.` to read a field"),
    "=>": ("`=>` is no operator", "write `>=` to compare"),
    "?.": ("`?.` is no operator", "write `default(x.y, other)` or test with `has(x.y)`"),
    "++": ("`++` is no operator", "an expression changes nothing; write `x + 1`"),
}  # fmt: skip
"""Operators of other languages that begin like one of ours."""

FOREIGN_CHARACTERS: dict[str, tuple[str, str | None]] = {
    "=": ("`=` is no operator", "write `==` to compare"),
    "&": ("`&` is no operator", "write `&&`"),
    "|": ("`|` is no operator", "write `||`"),
    "$": ("`$` is no part of an expression", "begin with a root name, as in `facts.lookup.score`"),
    "{": ("an expression holds no maps", "compare the fields one by one"),
    "}": ("`}` closes nothing", None),
    "^": ("`^` is no operator", "write `!=` for one or the other but not both"),
    "~": ("`~` is no operator", "write `!`"),
    ";": ("an expression is one value; `;` has no place in it", None),
    "#": ("an expression holds no comments", "put comments after `#` in the YAML, outside the quotes"),
    "@": ("`@` has no place in an expression", None),
    "`": ("a backquote quotes nothing here", "write field names as they are, odd ones as `x[\"odd-name\"]`"),
    "\\": ("`\\` has no place outside a string", None),
    "\u201c": ("a curly quote opens no string", "write straight quotes: `\"`"),
    "\u201d": ("a curly quote opens no string", "write straight quotes: `\"`"),
    "\u2018": ("a curly quote opens no string", "write straight quotes: `'`"),
    "\u2019": ("a curly quote opens no string", "write straight quotes: `'`"),
    "\u2264": ("`\u2264` is no operator", "write `<=`"),
    "\u2265": ("`\u2265` is no operator", "write `>=`"),
    "\u2260": ("`\u2260` is no operator", "write `!=`"),
    "\u2026": ("`\u2026` stands for nothing here", None),
}  # fmt: skip

INFIX: dict[str, tuple[str, str]] = {
    "and": ("`and` is no operator", "write `&&`"),
    "or": ("`or` is no operator", "write `||`"),
    "xor": ("`xor` is no operator", "write `!=`"),
    "not": ("`not` is no operator", "write `!`, as in `!(x in y)`"),
    "is": ("`is` is no operator", "write `==`, or `!=` for `is not`"),
    "if": ("`if` has no place in an expression", "write `condition ? value : other`"),
    "else": ("`else` has no place in an expression", "write `condition ? value : other`"),
    "then": ("`then` has no place in an expression", "write `condition ? value : other`"),
    "mod": ("`mod` is no operator", "write `%`"),
    "div": ("`div` is no operator", "write `/`"),
    "eq": ("`eq` is no operator", "write `==`"),
    "ne": ("`ne` is no operator", "write `!=`"),
    "lt": ("`lt` is no operator", "write `<`"),
    "le": ("`le` is no operator", "write `<=`"),
    "gt": ("`gt` is no operator", "write `>`"),
    "ge": ("`ge` is no operator", "write `>=`"),
    "like": ("`like` is no operator", 'write `x.matches("pattern")`'),
    "contains": ("`contains` is no operator", "write `x.contains(y)`, or `y in x` for a list"),
    "matches": ("`matches` is no operator", 'write `x.matches("pattern")`'),
    "startsWith": ("`startsWith` is no operator", "write `x.startsWith(y)`"),
    "endsWith": ("`endsWith` is no operator", "write `x.endsWith(y)`"),
}
"""A word that stands where an operator belongs."""

PREFIX: dict[str, tuple[str, str]] = {
    "not": ("`not` is no operator", "write `!`"),
    "if": ("`if` has no place in an expression", "write `condition ? value : other`"),
}
"""A word that stands before an operand."""

CONSTANTS: dict[str, str] = {
    "True": "true", "TRUE": "true", "False": "false", "FALSE": "false",
    "None": "null", "nil": "null", "NULL": "null", "Null": "null", "undefined": "null",
}  # fmt: skip
"""A constant in another language's spelling."""

FUNCTIONS: dict[str, str] = {
    "len": "write `size(x)`", "length": "write `size(x)`", "count": "write `size(x)`",
    "any": "write `list.exists(x, condition)`", "some": "write `list.exists(x, condition)`",
    "every": "write `list.all(x, condition)`", "exists_one": "write `size(list.filter(x, condition)) == 1`",
    "exist": "write `has(a.b)` for a path, `list.exists(x, condition)` for a list",
    "defined": "write `has(a.b)`", "exists": "write `has(a.b)`", "get": "write `default(x[\"key\"], other)`",
    "not": "write `!`", "and": "write `&&`", "or": "write `||`",
    "float": "write `double(x)`", "date": "write `timestamp(x)`", "datetime": "write `timestamp(x)`",
    "includes": "write `y in x` for a list, `x.contains(y)` for a string", "regex": "write `x.matches(\"pattern\")`",
    "match": "write `x.matches(\"pattern\")`", "search": "write `x.matches(\"pattern\")`",
    "string": "write `{{ x }}` inside a text; an expression does not turn values into strings",
    "str": "write `{{ x }}` inside a text; an expression does not turn values into strings",
    "int": "compare as it is: ints and floats compare", "uint": "compare as it is: ints and floats compare",
    "getHour": "write `t.getHours(zone)`", "weekday": "write `t.getDayOfWeek(zone)`",
    "timedelta": "write `duration(\"1h30m\")`", "reduce": "use `all`, `exists`, `filter` or `map`",
}  # fmt: skip
"""A function of another language."""
