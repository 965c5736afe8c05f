"""Example tools of the playbook `refund-request`: a shop with three orders, the same at every start. Cents only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ORDERS: dict[str, dict[str, Any]] = {
    "o-1001": {"customer_id": "c-17", "item": "kettle", "paid": 4900, "refunded": 0, "days_since_delivery": 12},
    "o-1002": {"customer_id": "c-17", "item": "lamp", "paid": 12900, "refunded": 0, "days_since_delivery": 61},
    "o-2001": {"customer_id": "c-99", "item": "chair", "paid": 8000, "refunded": 0, "days_since_delivery": 3},
}
_HELP = {"refund": "Refunds are due for 30 days after delivery, up to what was paid. Money arrives in 3 working days."}

_refunds: dict[str, list[int]] = {}


def reset() -> None:
    """Take back every refund."""
    _refunds.clear()


def get_order(order_id: str) -> dict[str, Any]:
    """Read an order: customer, item, cents paid, cents refunded so far, days since delivery.

    Raises:
        ValueError: there is no such order.
    """
    if order_id not in _ORDERS:
        message = f"there is no order {order_id!r}; known are {', '.join(sorted(_ORDERS))}"
        raise ValueError(message)
    order = _ORDERS[order_id]
    return {"id": order_id, **order, "refunded": order["refunded"] + sum(_refunds.get(order_id, []))}


def search_help(query: str) -> dict[str, Any]:
    """Search the help pages."""
    return {"pages": [text for word, text in _HELP.items() if word in query.casefold()]}


def issue_refund(order_id: str, amount: int, reason: str = "") -> dict[str, Any]:
    """Pay back `amount` cents of an order. The shop itself checks nothing: that is the playbook's work.

    Raises:
        ValueError: there is no such order.
    """
    get_order(order_id)
    paid = _refunds.setdefault(order_id, [])
    paid.append(amount)
    return {"refund_id": f"r-{order_id}-{len(paid)}", "order_id": order_id, "amount": amount, "reason": reason}


def list_refunds(order_id: str) -> dict[str, Any]:
    """Read the books: how many refunds an order had, and how many cents in all."""
    paid = _refunds.get(order_id, [])
    return {"count": len(paid), "total": sum(paid)}


def write_to_customer(customer_id: str, text: str) -> dict[str, Any]:
    """Send the customer a message."""
    return {"to": customer_id, "characters": len(text)}


def hand_over(why: str) -> dict[str, Any]:
    """Give the case to a person."""
    return {"queued": True, "why": why}


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    tool.__name__: tool for tool in (get_order, search_help, issue_refund, list_refunds, write_to_customer, hand_over)
}
