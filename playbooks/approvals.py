"""Who allows what: the key `approval` of steps, tools and entries."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, GetJsonSchemaHandler, Tag
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from .base import Maybe, Part, fault
from .values import Duration, Expr

MAX_PEOPLE = 1000


def _votes_form(value: Any) -> str | None:
    number = isinstance(value, int) and not isinstance(value, bool)
    return "~number" if number else "~all" if value == "all" else None


Votes = Annotated[
    Annotated[int, Field(ge=1, le=MAX_PEOPLE), Tag("~number")] | Annotated[Literal["all"], Tag("~all")],
    Discriminator(
        _votes_form,
        custom_error_type="GW024",
        custom_error_message="must be how many persons have to allow it, or the word `all`",
    ),
]
"""How many persons have to allow it; `all`: one from each of the listed groups."""


def _people_form(value: Any) -> str | None:
    return "~one" if isinstance(value, str) else "~list" if isinstance(value, list) else None


People = Annotated[
    Annotated[str, Tag("~one")] | Annotated[list[str], Tag("~list")],
    Discriminator(
        _people_form, custom_error_type="GW024", custom_error_message="must be a group, a person, or a list of them"
    ),
]
"""One group or person, or several."""


class ApprovalSpec(Part):
    """A person decides: on a step before anything else, on a tool or an entry on the exact call."""

    ask: Maybe[str] = Field(
        default=None, description="The question the person reads; `{{ EXPR }}` inside is filled in."
    )
    approvers: list[str] = Field(
        default_factory=list,
        description="The groups or persons who may decide; left out: anybody the host lets decide.",
    )
    when: Maybe[Expr] = Field(
        default=None, description="When this rule applies; it is asked where nobody can tell, too."
    )
    count: Maybe[Votes] = Field(
        default=None, description="How many different persons must allow it; `all`: one from each of `approvers`."
    )
    except_: Maybe[People] = Field(
        default=None,
        validation_alias="except",
        serialization_alias="except",
        description="Who may not decide, such as `{{ run.started_by }}`.",
    )
    timeout: Maybe[Duration] = Field(default=None, description="How long the question stands: `30m`.")
    because: Maybe[str] = Field(default=None, description="Why a person must decide, or why nobody need to.")
    none: bool = Field(default=False, description="`true` waives approval on purpose; needs a `because`.")

    @property
    def excluded(self) -> tuple[str, ...]:
        """
        Those named by `except`.

        >>> ApprovalSpec(ask="Deploy?", except_="{{ run.started_by }}").excluded
        ('{{ run.started_by }}',)
        """
        named = self.except_
        return () if named is None else (named,) if isinstance(named, str) else tuple(named)


def _written(value: Any) -> Any:
    """Turn the word `none` into the map it stands for."""
    if value == "none" and isinstance(value, str):
        return {"none": True}
    if isinstance(value, str):
        raise fault(
            "GW024", f'must be a map, a list of rules or the word `none`, not the text "{value:.40}"',
            "write `approval: {ask: …}`",
        )  # fmt: skip
    return value


def _form(value: Any) -> str:
    return "~rules" if isinstance(value, list) else "~rule"


class _WordOrMap:
    """Show the word `none` in the schema as well."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"const": "none"}, *handler(schema)["oneOf"]]}


Approval = Annotated[
    Annotated[ApprovalSpec, Tag("~rule")] | Annotated[list[ApprovalSpec], Tag("~rules")],
    Discriminator(_form),
    BeforeValidator(_written),
    _WordOrMap(),
]
"""A map, a list of rules of which the first that applies decides, or `none`."""


def rules_of(approval: ApprovalSpec | list[ApprovalSpec] | None) -> tuple[ApprovalSpec, ...]:
    """
    Write an approval as its rules, in the order they are tried; nothing written: no rules.

    `none` is one rule, whose `none` is true.

    >>> rules_of(None), rules_of(ApprovalSpec(ask="Deploy?"))
    ((), (ApprovalSpec(ask='Deploy?'),))
    """
    if approval is None:
        return ()
    return tuple(approval) if isinstance(approval, list) else (approval,)


def waived(approval: ApprovalSpec | list[ApprovalSpec] | None) -> bool:
    """
    Tell whether approval is left out on purpose.

    >>> waived(ApprovalSpec(none=True, because="a read")), waived(None)
    (True, False)
    """
    return any(rule.none for rule in rules_of(approval))
