"""Example tools of the playbook `refund-desk`: a shop with four orders, delivered as many days ago at every start.

Amounts are whole euros.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

_ORDERS: dict[str, dict[str, Any]] = {
    "o-1001": {"customer_id": "c-17", "item": "coffee machine", "paid": 490, "days": 12},
    "o-1002": {"customer_id": "c-17", "item": "lamp", "paid": 90, "days": 61},
    "o-1003": {"customer_id": "c-17", "item": "piano", "paid": 6200, "days": 5},
    "o-2001": {"customer_id": "c-99", "item": "chair", "paid": 80, "days": 3},
}
_HELP = {"refund": "Refunds are due for 30 days after delivery, up to what was paid. Money arrives in 3 working days."}

_refunds: dict[str, list[int]] = {}


def reset() -> None:
    """Take back every refund."""
    _refunds.clear()


def get_order(order_id: str) -> dict[str, Any]:
    """Read an order: customer, item, euros paid, when it was delivered.

    Raises:
        ValueError: there is no such order.
    """
    if order_id not in _ORDERS:
        message = f"there is no order {order_id!r}; known are {', '.join(sorted(_ORDERS))}"
        raise ValueError(message)
    order = dict(_ORDERS[order_id])
    delivered = datetime.now(UTC) - timedelta(days=order.pop("days"))
    return {"id": order_id, **order, "delivered_at": f"{delivered:%Y-%m-%dT%H:%M:%SZ}"}


def search_help(query: str) -> dict[str, Any]:
    """Search the help pages."""
    return {"pages": [text for word, text in _HELP.items() if word in query.casefold()]}


def issue_refund(order_id: str, amount: int, reason: str = "") -> dict[str, Any]:
    """Pay back `amount` euros of an order. The shop itself checks nothing: that is the playbook's work.

    Raises:
        ValueError: there is no such order.
    """
    get_order(order_id)
    paid = _refunds.setdefault(order_id, [])
    paid.append(amount)
    return {"refund_id": f"r-{order_id}-{len(paid)}", "order_id": order_id, "amount": amount, "reason": reason}


def send_receipt(order_id: str, text: str = "") -> dict[str, Any]:
    """Send the customer a receipt."""
    return {"order_id": order_id, "characters": len(text)}


def hand_over(why: str) -> dict[str, Any]:
    """Give the case to a person."""
    return {"queued": True, "why": why}


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    tool.__name__: tool for tool in (get_order, search_help, issue_refund, send_receipt, hand_over)
}
