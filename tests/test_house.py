"""The house: floors whose arrows only go down, clean code, and commands that import only what they use."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gpucost

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gpucost"
SURFACES = (
    "gpucost.cli",
    "gpucost.terminal",
    "gpucost.measuring_commands",
    "gpucost.terminal_measuring",
    "gpucost.__main__",
    "gpucost.dashboard",
)
HEAVY = ("torch", "transformers", "streamlit", "altair", "pandas", "sklearn", "pyarrow", "rich", "babel")
HEAVY_IN_FUNCTIONS = {
    "gpucost.bulk": {"pyarrow"},
    "gpucost.metrics": {"sklearn"},
    "gpucost.measuring.devices": {"torch"},
    "gpucost.measuring.text_classification": {"torch", "transformers"},
    "gpucost.measuring.embedding_head": {"torch", "transformers"},
    "gpucost.measuring.head": {"torch", "sklearn"},
    "gpucost.measuring.memory_lesson": {"torch"},
    "gpucost.measuring.worker": {"transformers"},
}
"""Heavy libraries that a module of the core or of the adapters imports inside the function that needs them."""
ADAPTER = "gpucost.measuring"
WORKER_MODULES = ("worker", "workloads", "devices", "stopwatch", "text_classification", "embedding_head")
"""What runs inside a worker: it imports nothing of gpucost but these, and no library that its work does not need."""
NO_ROOM_FOR = {"utils", "util", "helpers", "common", "misc"}


def modules() -> dict[str, ast.Module]:
    """Every module of the package, by name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def is_surface(name: str) -> bool:
    return any(name == surface or name.startswith(f"{surface}.") for surface in SURFACES)


@pytest.mark.parametrize("name", [name for name in modules() if not is_surface(name)])
def test_the_core_imports_no_surface_and_nothing_heavy(name: str) -> None:
    tree = modules()[name]
    names = imported(tree)
    assert not [other for other in names if is_surface(other)]
    if not name.startswith(ADAPTER):
        assert not [other for other in names if other.startswith(ADAPTER)], "the core knows no adapter"
    heavy = {other.split(".")[0] for other in names} & set(HEAVY)
    assert heavy <= HEAVY_IN_FUNCTIONS.get(name, set())
    top = imported(ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], []))
    assert not {other.split(".")[0] for other in top} & set(HEAVY)


@pytest.mark.parametrize("name", WORKER_MODULES)
def test_a_worker_imports_nothing_that_its_work_does_not_need(name: str) -> None:
    """Its resident memory is the work's own: neither pydantic nor numpy come with it."""
    names = {other for other in imported(modules()[f"{ADAPTER}.{name}"]) if other.startswith("gpucost")}
    allowed = {f"{ADAPTER}.{other}" for other in WORKER_MODULES}
    assert all(any(other == one or other.startswith(f"{one}.") for one in allowed) for other in names)


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_a_page_reads_calls_and_draws(path: Path) -> None:
    """No arithmetic library, no reading of files, no database in a page."""
    names = {name.split(".")[0] for name in imported(ast.parse(path.read_text(encoding="utf-8")))}
    assert names <= {"streamlit", "gpucost"}
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


def test_every_thing_has_a_room_of_its_own_name() -> None:
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        assert path.stem not in NO_ROOM_FOR


def test_no_assertion_and_no_bare_except_outside_tests() -> None:
    for name, tree in modules().items():
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Assert), name
            assert not (isinstance(node, ast.ExceptHandler) and node.type is None), name


@pytest.mark.parametrize(
    "command", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]], ids=" ".join
)
def test_the_code_is_clean(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--json", "gpucost/example/massive-en-batch-cpu/results.csv"],
        ["template"],
        ["packages", "--tariffs", "gpucost/example/tariffs.csv", "--json"],
        [
            "audit", "--expected", "gpucost/example/massive-en-batch-cpu/expected-ids.txt",
            "--outputs", "gpucost/example/massive-en-batch-cpu/outputs/batch-1-cold-1.jsonl", "--json",
        ],
    ],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_a_command_imports_only_what_it_uses(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom gpucost.cli import main\n"
        f"main({arguments!r})\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stderr.splitlines()[-1]))
    assert not loaded & {"torch", "streamlit", "altair", "pandas", "sklearn", "pyarrow"}


def test_the_lists_of_packages_are_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == project["dependencies"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", gpucost.__version__)


def test_every_package_earns_its_place_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Packages it stands on")[2]
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["measure"]]:
        assert re.split(r"[<>=]", requirement)[0] in readme


def test_ci_runs_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = readme.partition("<!-- test-command -->")[2].splitlines()[2]
    assert command.startswith("python3 -m venv")
    assert command.endswith("pytest")


def test_no_text_for_translation_stands_inside_an_f_string() -> None:
    """Babel does not look into f-strings on Python 3.11: such a text would stay English without a word."""
    paths = [*PACKAGE.rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
                    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
                    literal = call.args and isinstance(call.args[0], ast.Constant)
                    assert not (name in {"_", "gettext", "ngettext", "N_"} and literal), f"{path}:{call.lineno}"
