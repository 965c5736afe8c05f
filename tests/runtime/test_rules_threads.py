"""Many threads on one session: row 9 of the list of reports, and its kind."""

from __future__ import annotations

import threading

from guideway import (
    Allow,
    HostError,
    Session,
    Succeeded,
)

from .helpers import (
    audit,
    book,
    call,
    ok,
    start,
    step,
    trace,
)


def test_torture_09_threads_race_for_a_once_only_tool() -> None:
    """Eight threads propose a tool that may run once: exactly one is admitted, the others are told so."""
    for _ in range(20):
        session = start(
            book(
                step("a", {"tool": "pay", "times": 1}, "y"),
                max_refusals=10**6,
                tools={"pay": {"effect": "irreversible"}, "y": {}},
            )
        )
        barrier = threading.Barrier(8)
        admitted: list[str] = []
        broken: list[BaseException] = []

        def agent(
            number: int,
            session: Session = session,
            barrier: threading.Barrier = barrier,
            admitted: list[str] = admitted,
            broken: list[BaseException] = broken,
        ) -> None:
            try:
                barrier.wait()
                for attempt in range(20):
                    call_id = f"{number}.{attempt}"
                    try:
                        [verdict] = session.propose([call("pay", call_id)])
                    except HostError:
                        continue
                    if isinstance(verdict, Allow):
                        admitted.append(call_id)
                        session.observe(call_id, Succeeded())
            except BaseException as error:
                broken.append(error)

        threads = [threading.Thread(target=agent, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert broken == []
        assert len(admitted) == 1
        assert ok(audit(session), "y").outcome == "success"


def test_threads_on_one_session_lose_nothing() -> None:
    """Eight threads work through one step: every admitted call is counted once and the record is whole."""
    session = start(book(step("a", {"tool": "x", "times": 400}), max_refusals=10**6, max_iterations=10**6))
    admitted: list[str] = []
    broken: list[BaseException] = []

    def agent(number: int) -> None:
        try:
            for attempt in range(10**6):
                if session.outcome is not None:
                    return
                call_id = f"{number}.{attempt}"
                try:
                    [verdict] = session.propose([call("x", call_id)])
                except HostError:
                    continue
                if isinstance(verdict, Allow):
                    admitted.append(call_id)
                    session.observe(call_id, Succeeded())
        except BaseException as error:
            broken.append(error)

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    assert session.outcome == "success" and len(admitted) == 400 == len(set(admitted))
    settled = [r["call_id"] for r in trace(session) if r["kind"] == "settled"]
    assert sorted(settled) == sorted(admitted)


def test_threads_may_report_a_batch_in_any_order() -> None:
    """Eight calls of one batch are observed by eight threads at once: each is settled once, in model order."""
    for _ in range(20):
        session = start(book(step("a", *(f"t{i}" for i in range(8))), step("b", "y")))
        session.propose([call(f"t{i}", f"{i}") for i in range(8)])
        barrier = threading.Barrier(8)

        def report(number: int, session: Session = session, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            session.observe(f"{number}", Succeeded({"n": number}))
            session.observe(f"{number}", Succeeded({"n": number}))

        threads = [threading.Thread(target=report, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.state == "b"
        assert [r["call_id"] for r in trace(session) if r["kind"] == "settled"] == [f"{i}" for i in range(8)]
