"""The command lines: import_tasks, load_bundle, dump_bundle, create_api_key."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import ApiKey, Project
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import get_project, key_for
from apps.tasks.models import Environment, Import, Task
from apps.tasks.queries import get_environment, splits

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parent / "golden"

ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
"""A few hundred characters of YAML that describe 31 billion values."""


def _run(*arguments: Any, **options: Any) -> tuple[int, str]:
    """The exit code and what was printed."""
    out = io.StringIO()
    try:
        call_command(*map(str, arguments), stdout=out, **options)
    except SystemExit as leaving:
        return int(str(leaving.code)), out.getvalue()
    return 0, out.getvalue()


def test_an_import_prints_its_ledger_and_exits_with_1_if_a_line_was_refused() -> None:
    code, printed = _run(
        "import_tasks", GOLDEN / "mixed.jsonl", "--environment", "lab/first", "--create"
    )
    assert code == 1
    assert "refused    line 3:" in printed
    assert "refused    line 7: key: a task 'river' is there already, with other content" in printed
    assert "converted  3 rows, first line 1: question: the text became a user message" in printed
    assert "9 rows: 6 created, 0 updated, 0 unchanged, 3 refused; 1 of them drafts" in printed
    environment = get_environment(OPERATOR, get_project(OPERATOR, "lab"), "first")
    assert [split.name for split in splits(OPERATOR, environment)] == ["test"]


def test_an_import_without_a_refusal_exits_with_0_and_can_be_repeated(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text('[{"id": "a", "question": "One?"}, {"id": "b", "question": "Two?"}]')
    words = ("import_tasks", file, "--environment", "lab/first", "--create", "--split", "dev")
    assert _run(*words)[0] == 0
    code, printed = _run(*words, verbosity=2)
    assert (code, Task.objects.count()) == (0, 2)
    assert "line 1: unchanged a" in printed


def test_the_ledger_on_paper_names_kept_attributes_and_invented_keys(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"question": "One?", "target": "1"}\n{"question": "Two?", "target": "2"}\n')
    words = ("import_tasks", file, "--environment", "lab/first", "--create")
    _, printed = _run(*words)
    first, second = Task.objects.order_by("position")
    assert "kept       2 rows, first line 1: attributes question, target" in printed
    assert f"invented   2 rows, first line 1: key: the row names none: {first.key}" in printed
    _, printed = _run(*words, verbosity=2)
    assert f"invented   line 2: key: the row names none: {second.key}" in printed


def test_an_update_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    words = ("import_tasks", file, "--environment", "lab/first", "--create")
    file.write_text('{"id": "a", "question": "One?"}\n')
    _run(*words)
    file.write_text('{"id": "a", "question": "Two?"}\n')
    assert _run(*words)[0] == 1
    code, printed = _run(*words, "--update")
    assert (code, "1 updated" in printed) == (0, True)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--environment", "lab"], "takes project/environment"),
        (["--environment", "lab/first"], "no project 'lab'"),
        (["--environment", "lab/api", "--create"], "own addresses"),
        (["--environment", "Lab/a", "--create"], "cannot be a name"),
        (["--environment", "lab/A b", "--create"], "cannot be a name"),
    ],
)
def test_an_import_to_nowhere_says_what_is_wrong(words: list[str], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        _run("import_tasks", GOLDEN / "mixed.jsonl", *words)


def test_a_dry_run_tells_everything_and_keeps_nothing(tmp_path: Path) -> None:
    words = ("import_tasks", GOLDEN / "mixed.jsonl", "--environment", "lab/first", "--create")
    status, told = _run(*words, "--dry-run")
    assert status == 1
    assert "9 rows: 6 created" in told
    assert "undo_import" not in told
    assert not Task.objects.exists()
    assert not Environment.objects.filter(slug="first").exists()
    assert not Import.objects.exists()


def test_an_import_is_undone_by_the_number_it_prints(tmp_path: Path) -> None:
    _, told = _run("import_tasks", GOLDEN / "mixed.jsonl", "--environment", "lab/first", "--create")
    number = told.split("undo_import ")[1].split()[0]
    assert "6 tasks removed" in _run("undo_import", number)[1]
    assert not Task.objects.exists()
    with pytest.raises(CommandError, match="no import 77"):
        _run("undo_import", "77")


def test_a_column_mapping_is_read_from_a_file(tmp_path: Path) -> None:
    mapping, file = tmp_path / "mapping.yaml", tmp_path / "rows.csv"
    mapping.write_text("conversation:\n  - {role: user, content: 'ask'}\n")
    file.write_text("ask,other\nWhy?,x\nHow?,y\n")
    words = ("import_tasks", file, "--environment", "lab/first", "--create", "--mapping", mapping)
    assert "2 created" in _run(*words)[1]
    assert Import.objects.get().mapping == {"conversation": [{"role": "user", "content": "ask"}]}
    for bad in ("[" * 300_000, ALIASES, "a: !!bool x"):
        mapping.write_text(bad)
        with pytest.raises(CommandError, match="not YAML or JSON"):
            _run(*words)
    mapping.write_text("just words")
    with pytest.raises(CommandError, match="no column mapping"):
        _run(*words)


def test_an_import_to_nowhere_makes_nothing_on_the_way() -> None:
    for words, wrong in (
        (["lab/api"], "'api'"),
        (["lab/first", "--split", " "], "' '"),
        (["lab/first", "--split", "a/b"], "'a/b'"),
    ):
        with pytest.raises(CommandError, match=wrong):
            _run("import_tasks", GOLDEN / "mixed.jsonl", "--create", "--environment", *words)
    assert not Project.objects.filter(slug="lab").exists()


def test_a_closed_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CommandError, match="Standard input is closed"):
        _run("import_tasks", "-", "--environment", "lab/first", "--create")


def test_a_bundle_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "twice.json"
    file.write_text('{"owner": "lab", "environments": [], "environments": []}')
    with pytest.raises(CommandError, match="'environments' is there twice"):
        _run("load_bundle", file)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match=r"none\.jsonl: No such file"):
        _run("import_tasks", GOLDEN / "none.jsonl", "--environment", "a/b", "--create")


def test_with_several_splits_one_must_be_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": "a", "question": "One?"}\n')
    words = ("import_tasks", file, "--environment", "lab/first", "--create")
    _run(*words, "--split", "dev")
    _run(*words, "--split", "test")
    with pytest.raises(CommandError, match="one of: dev, test"):
        _run(*words)


def test_a_key_is_printed_alone_and_works(cast: Any) -> None:
    code, printed = _run("create_api_key", "alpha", "--name", "CI", "--scopes", "harness,read")
    key = key_for(printed.strip())
    assert key is not None
    assert (code, printed.count("\n"), key.name) == (0, 1, "CI")
    assert key.scopes == ["harness", "read"]
    assert not ApiKey.objects.filter(digest__contains=printed.strip()).exists()


@pytest.mark.parametrize(
    "words",
    [
        ["alpha", "--name", "x", "--scopes", "root"],
        ["alpha", "--name", ""],
        ["gamma", "--name", "x"],
    ],
)
def test_a_key_that_cannot_be_made_says_why(cast: Any, words: list[str]) -> None:
    with pytest.raises(CommandError):
        _run("create_api_key", *words)


def test_a_bundle_is_loaded_dumped_and_loaded_again_unchanged(tmp_path: Path) -> None:
    bundle = GOLDEN / "bundle.json"
    assert "4 tasks created" in _run("load_bundle", bundle)[1]
    assert "0 tasks created, 0 updated, 4 unchanged" in _run("load_bundle", bundle)[1]
    dumped = tmp_path / "dumped.json"
    dumped.write_text(_run("dump_bundle", "workshop/bench")[1])
    assert "0 tasks created, 0 updated, 3 unchanged" in _run("load_bundle", dumped)[1]
    assert "3 tasks created" in _run("load_bundle", dumped, "--project", "copy")[1]
    again = json.loads(_run("dump_bundle", "copy/bench")[1])
    assert again["environments"] == json.loads(dumped.read_text())["environments"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "An object is expected"),
        ('{"environments": [], "format": "x/1"}', "format is not"),
        ('{"environments": {}, "owner": "lab"}', "must be a list"),
        ('{"environments": []}', "cannot be a name"),
    ],
)
def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "bundle.json"
    file.write_text(text)
    with pytest.raises(CommandError, match=complaint):
        _run("load_bundle", file)


def test_an_environment_that_is_not_there_cannot_be_dumped() -> None:
    with pytest.raises(CommandError, match="no project"):
        _run("dump_bundle", "nobody/nothing")
