"""The golden corpus: `ok/` is silent, `err/` says exactly what stands in the `.out` file beside each input."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from guideway.playbooks.codes_shape import SHAPE_CODES
from guideway.playbooks.reader import read_file, read_text
from guideway.playbooks.validate import validate

CORPUS = Path(__file__).parent / "corpus"
SEED = Path(__file__).parent / "seed"
SOURCES = Path(read_text.__code__.co_filename).parent


def inputs(folder: str) -> list[Path]:
    """The playbooks of one folder of the corpus."""
    return sorted(path for path in (CORPUS / folder).iterdir() if path.suffix in {".yaml", ".json"})


def findings(path: Path) -> str:
    """One line per finding, the file by its name alone; the help and the related places behind it."""
    lines: list[str] = []
    for found in validate(read_file(path))[1]:
        lines.append(str(found).removeprefix(str(path.parent) + "/"))
        lines += [f"  help: {found.help}"] if found.help else []
        lines += [f"  {r.span.line}:{r.span.column}: {r.message}" for r in found.related]
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("path", inputs("ok"), ids=lambda p: p.name)
def test_a_right_playbook_is_silent(path: Path) -> None:
    """A playbook that keeps the format gives a model and no finding."""
    playbook, found = validate(read_file(path))

    assert found == []
    assert playbook is not None


@pytest.mark.parametrize("path", inputs("err"), ids=lambda p: p.name)
def test_a_wrong_playbook_says_all_that_is_wrong(path: Path) -> None:
    """Every fault is told in one run, each at its own line and column; `regenerate.py` writes the files anew."""
    playbook, _ = validate(read_file(path))

    assert playbook is None
    assert path.with_name(path.name + ".out").read_text(encoding="utf-8") == findings(path)


def test_the_catalogue_and_the_code_name_the_same_findings() -> None:
    """Every code that a source file gives is in the catalogue, and none of the catalogue is never given."""
    shape = [path for path in SOURCES.glob("*.py") if not path.name.startswith("codes")]
    given = {code for path in shape for code in re.findall(r"GW0[234]\d", path.read_text(encoding="utf-8"))}

    assert set(SHAPE_CODES) == given


@pytest.mark.parametrize("code", sorted(set(SHAPE_CODES) - {"GW042"}))
def test_every_example_of_the_catalogue_shows_its_finding(code: str) -> None:
    """The example in the essay of a rule is an example of that rule."""
    example = SHAPE_CODES[code].essay.split("```yaml\n")[1].split("\n```")[0]
    text = f"steps:\n{example}" if example.startswith("- ") and code != "GW041" else example
    if text.startswith(("expected_tools", "switch")):
        text = "steps:\n  - id: x\n" + "".join(f"    {line}\n" for line in text.splitlines())

    assert code in {found.code for found in validate(read_text(text))[1]}


def test_a_flood_of_faults_is_cut_and_says_so() -> None:
    """A thousand faults are told, and that there are more."""
    text = "id: a\nname: A\n" + "".join(f"key_{n:04}: 1\n" for n in range(2500))

    _, found = validate(read_text(text))

    assert len(found) == 1001
    assert [f.message for f in found if f.code == "GW042"] == [
        "there are more than 1,000 faults of shape; the others are not listed"
    ]


def test_a_dict_has_no_places_so_the_message_names_the_path() -> None:
    """What was given as a dict is located by its path."""
    from guideway.playbooks.reader import read_data

    _, found = validate(read_data({"id": "a", "name": "A", "steps": [{"id": "x", "description": "X", "wehn": "true"}]}))

    expected = "<dict>:1:1: error: steps[0].wehn: unknown key `wehn` in a step; did you mean `when`? [GW020]"
    assert [expected] == [str(f) for f in found]
