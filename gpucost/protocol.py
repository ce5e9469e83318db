"""The protocol file: everything that is fixed before the first pass, as one typed model.

Protocol, sections 1 to 3. `read_protocol` takes bytes and never raises on what stands in them: each problem names its
key, its line, its value and the remedy. A protocol with a problem cannot be sealed. Nothing has a universal default:
a threshold and a tolerance that nobody wrote are problems.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    StrictStr,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from gpucost.cells import visible
from gpucost.language import N_, Translator
from gpucost.metrics import COMPUTABLE
from gpucost.phrases import Phrase
from gpucost.quality import Direction, Metric, metric_named

MEMORY_LESSON = "memory"
"""The name of the synthetic MLP. It reads memory, has no corpus, and is no workload."""

Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, pattern=r"^\S(.*\S)?$")]
Whole: TypeAlias = Annotated[StrictInt, Field(ge=0)]
Positive: TypeAlias = Annotated[StrictInt, Field(ge=1)]
Precision: TypeAlias = Literal["fp32", "bf16", "fp16"]
Scope: TypeAlias = Literal["processing", "whole-chain"]
Order: TypeAlias = Literal["alternating", "drawn"]
Isolation: TypeAlias = Literal["process-per-variant", "process-per-pass", "one-process"]
Variable: TypeAlias = Literal["batch", "precision", "context", "seed"]
Value: TypeAlias = StrictInt | StrictStr


def _number(value: object) -> object:
    """A number between quotation marks is a text, and none of ours to repair."""
    if isinstance(value, str):
        raise PydanticCustomError("decimal_type", "a number is due")
    return value


Number: TypeAlias = Annotated[Decimal, BeforeValidator(_number)]


class Part(BaseModel):
    """A table of the protocol file. A key that the protocol does not know is a problem, never ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ExperimentPart(Part):
    """One question, and the unit of useful work that a price will stand beside."""

    id: Text
    useful_unit: Text
    question: str = ""


class CorpusPart(Part):
    """The pieces of the corpus, as paths from the protocol file, and where they come from."""

    texts: Text
    expected_ids: Text
    reference: Text
    source: Text
    licence: Text
    verified_by: Text
    training: tuple[Text, ...]
    tuning: tuple[Text, ...]


class OutputPart(Part):
    """The classes and the format that an output row must have."""

    classes: Annotated[tuple[Text, ...], Field(min_length=2)]
    format: Literal["id-label-jsonl"] = "id-label-jsonl"


class QualityPart(Part):
    """The quality rule. `tolerance` is the largest drop allowed against `reference_value`, absolute."""

    metric: Text
    direction: Literal["more", "less"] | None = None
    threshold: Number
    tolerance: Annotated[Number, Field(ge=0)]
    reference_value: Number
    tolerance_meaning: Text


class ModelPart(Part):
    """What does the work. `path` is a folder on disk, `package` an installed Python package that carries a model."""

    workload: Text
    path: Text | None = None
    package: Text | None = None
    tokenizer: Text | None = None
    head: Text | None = None
    revision: Text | None = None
    tokenizer_revision: Text | None = None
    allow_download: bool = False
    options: dict[str, str | bool | int | Decimal] = Field(default_factory=dict)


class ConfigurationPart(Part):
    """What stays the same for every variant; the announced variable is left out here."""

    device: Annotated[str, StringConstraints(pattern=r"^(cpu|(cuda|xpu):\d+|mps)$")]
    precision: Precision | None = None
    batch: Positive | None = None
    context: Positive | None = None
    seed: Whole | None = None
    truncation: Literal["cut-end", "refuse"]
    threads: Positive = 1


class VariablePart(Part):
    """The one announced variable and its values."""

    name: Variable
    values: Annotated[tuple[Value, ...], Field(min_length=1)]


class PassesPart(Part):
    """How passes are timed, warmed up, repeated, ordered and kept apart."""

    scope: Scope
    warmup_iterations: Whole
    warm: Positive = 5
    order: Order
    isolation: Isolation | None = None
    time_limit_seconds: Positive = 3600
    memory_limit_bytes: Positive | None = None


class CodePart(Part):
    """The folder of the team's own code, whose revision and content are sealed."""

    path: Text = "."


class PackagePart(Part):
    """The whole package under study, where it is known."""

    duration_days: Literal[3, 7, 30]
    lots: Positive
    total_usd_minor: Whole | None = None


class Protocol(Part):
    """A whole protocol file."""

    version: Literal[1]
    experiment: ExperimentPart
    corpus: CorpusPart
    output: OutputPart
    quality: QualityPart
    model: ModelPart
    configuration: ConfigurationPart
    variable: VariablePart
    passes: PassesPart
    code: CodePart | None = None
    package: PackagePart | None = None

    @property
    def isolation(self) -> Isolation:
        """The isolation announced, else the default of the device: a process for each pass on an accelerator."""
        on_cpu = self.configuration.device == "cpu"
        return self.passes.isolation or ("process-per-variant" if on_cpu else "process-per-pass")

    @property
    def metric(self) -> Metric:
        """The metric with its direction. A name that is not a known one has no bounds."""
        known = metric_named(self.quality.metric)
        return known or Metric(self.quality.metric, Direction(self.quality.direction or "more"), None, None)

    @property
    def variants(self) -> tuple["Variant", ...]:
        """The variants in the announced order, with the whole configuration of each."""
        name = self.variable.name
        fixed = self.configuration
        made = []
        for value in self.variable.values:
            cells: dict[str, Any] = {
                "precision": fixed.precision, "batch": fixed.batch, "context": fixed.context, "seed": fixed.seed,
            }  # fmt: skip
            cells[name] = value
            made.append(Variant(f"{name}-{value}", **cells))
        return tuple(made)


@dataclass(frozen=True, slots=True)
class Variant:
    """One value of the announced variable, and the configuration that is applied for it. `context` is in tokens."""

    variant_id: str
    precision: str
    batch: int
    context: int
    seed: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a protocol from being sealed. `line` is the physical line of the key, None where it has none."""

    key: str
    line: int | None
    value: str | None
    message: Phrase
    remedy: Phrase

    def to_json(self, to: Translator) -> dict[str, Any]:
        """Its fields, with the two texts in one language."""
        return {
            "key": self.key, "line": self.line, "value": self.value,
            "message": self.message.render(to), "remedy": self.remedy.render(to),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProtocolFile:
    """A protocol file as it was read. `protocol` is None where a key cannot be used; `sha256` is of its bytes."""

    name: str
    data: bytes
    protocol: Protocol | None
    problems: tuple[Problem, ...]

    @property
    def sha256(self) -> str:
        """The digest that stands in the run's folder and in the notes of each row."""
        return hashlib.sha256(self.data).hexdigest()

    def placed(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Problems with what this protocol names, each with the line of its key where it has one."""
        lines = _key_lines(self.data.decode("utf-8-sig"))
        return tuple(replace(problem, line=problem.line or lines.get(problem.key)) for problem in problems)

    @property
    def sealable(self) -> bool:
        """Whether nothing is missing or wrong in the file itself."""
        return self.protocol is not None and not self.problems


def read_protocol(name: str, data: bytes) -> ProtocolFile:
    """Read a protocol file. Never raises on what stands in it."""
    try:
        text = data.decode("utf-8-sig")
        values = tomllib.loads(text, parse_float=Decimal)
    except UnicodeDecodeError as error:
        problem = Problem(
            "", None, None,
            Phrase(N_("the file is not UTF-8 (byte {place})"), {"place": str(error.start + 1)}),
            Phrase(N_("Save it as UTF-8.")),
        )  # fmt: skip
        return ProtocolFile(name, data, None, (problem,))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        problem = Problem(
            "", int(line[1]) if line else None, None,
            Phrase(N_("the file is not valid TOML: {why}"), {"why": str(error)}),
            Phrase(N_("Mend this line; texts stand between quotation marks.")),
        )  # fmt: skip
        return ProtocolFile(name, data, None, (problem,))
    lines = _key_lines(text)
    try:
        protocol = Protocol.model_validate(values)
    except ValidationError as error:
        problems: dict[str, Problem] = {}
        for details in error.errors(include_url=False):
            # A value that may be of several types has an error for each: the first says enough.
            problem = _typed(details, lines)
            problems.setdefault(problem.key, problem)
        return ProtocolFile(name, data, None, tuple(problems.values()))
    return ProtocolFile(name, data, protocol, tuple(_inconsistent(protocol, lines)))


def _key_lines(text: str) -> dict[str, int]:
    """The physical line of each table and key, as far as the usual way of writing them shows it."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[([\w.\-]+)\]", line):
            table = header[1]
            found.setdefault(table, number)
        elif key := re.match(r"\s*([\w\-]+)\s*=", line):
            found.setdefault(f"{table}.{key[1]}" if table else key[1], number)
    return found


_LIMITS = {
    "greater_than_equal": N_("it is below {ge}"),
    "too_short": N_("it holds {actual_length} values where {min_length} are due"),
    "literal_error": N_("it is not one of {expected}"),
}


def _typed(details: ErrorDetails, lines: dict[str, int]) -> Problem:
    """A problem that the types of the model show."""
    places = [str(place) for place in details["loc"] if not (isinstance(place, str) and place in _UNION_MEMBERS)]
    key = ".".join(places)
    named = key
    while named and named not in lines:
        named = named.rpartition(".")[0]
    kind, shown = details["type"], visible(str(details["input"]), 80)
    if isinstance(details["input"], str) and kind.startswith(("decimal", "int", "bool")):
        shown = f'"{shown}"'
    if kind == "missing":
        message = Phrase(N_("`{key}` is not filled"), {"key": key})
        return Problem(key, lines.get(named), None, message, _filling(key))
    if kind == "extra_forbidden":
        return Problem(
            key, lines.get(named), shown, Phrase(N_("`{key}` is not a key of the protocol"), {"key": key}),
            Phrase(N_("Remove it or mend its name; `gpucost protocol new` lists every key.")),
        )  # fmt: skip
    context = {name: str(value).replace(" or ", ", ") for name, value in details.get("ctx", {}).items()}
    if key == "configuration.device" and kind == "string_pattern_mismatch":
        kind, context = "literal_error", {"expected": "cpu, cuda:0, cuda:1, xpu:0, mps"}
    why = Phrase(_LIMITS[kind], context) if kind in _LIMITS else _expected(kind)
    message = Phrase(N_("`{key}` holds {value}: {why}"), {"key": key, "value": shown or "∅", "why": why})
    return Problem(key, lines.get(named), shown, message, _filling(key))


_UNION_MEMBERS = {"int", "str", "bool", "decimal", "constrained-str", "constrained-int"}


def _expected(kind: str) -> Phrase:
    if kind.startswith("int"):
        return Phrase(N_("a whole number is due"))
    if kind.startswith("decimal") or kind == "finite_number":
        return Phrase(N_("a decimal number is due, such as 0.9"))
    if kind.startswith("bool"):
        return Phrase(N_("`true` or `false` is due"))
    if kind.startswith(("tuple", "list")):
        return Phrase(N_("a list is due"))
    if kind.startswith(("dict", "model")):
        return Phrase(N_("a table is due"))
    return Phrase(N_("a text is due, not empty and without a space around it"))


_FILLINGS = {
    "quality.threshold": N_("Choose the value that your application needs; there is no universal one."),
    "quality.tolerance": N_("Choose the largest drop that your application allows; there is no universal one."),
    "quality.reference_value": N_("Write the value that the tolerance is measured from."),
    "corpus.training": N_("List the files of the training split, or write [] where there is none."),
    "corpus.tuning": N_("List the files of the tuning split, or write [] where there is none."),
    "corpus.verified_by": N_("Say who or what verified the reference."),
    "configuration.device": N_("Name one device: cpu, cuda:0, xpu:0 or mps."),
}


def _filling(key: str) -> Phrase:
    return Phrase(_FILLINGS.get(key, N_("Fill it; `gpucost protocol new` explains every key.")))


def _inconsistent(protocol: Protocol, lines: dict[str, int]) -> Iterator[Problem]:
    """What each key allows by itself and the whole does not."""

    def problem(key: str, value: object, message: Phrase, remedy: str) -> Problem:
        return Problem(key, lines.get(key), None if value is None else str(value), message, Phrase(remedy))

    yield from _variable_problems(protocol, problem)
    yield from _quality_problems(protocol, problem)
    yield from _model_problems(protocol, problem)
    classes = protocol.output.classes
    if len(set(classes)) < len(classes):
        again = next(name for name in classes if classes.count(name) > 1)
        yield problem(
            "output.classes", again, Phrase(N_("the class {name} stands twice"), {"name": visible(again, 60)}),
            N_("Name each class once."),
        )  # fmt: skip
    if protocol.isolation == "one-process" and protocol.variable.name != "batch":
        yield problem(
            "passes.isolation", protocol.isolation,
            Phrase(N_("one process cannot hold variants of {name}"), {"name": protocol.variable.name}),
            N_("Announce process-per-variant or process-per-pass: each variant loads its own model."),
        )  # fmt: skip
    if protocol.passes.memory_limit_bytes is not None and protocol.configuration.device != "cpu":
        yield problem(
            "passes.memory_limit_bytes", protocol.passes.memory_limit_bytes,
            Phrase(N_("a limit of the address space holds on a CPU only")), N_("Remove it."),
        )  # fmt: skip


def _variable_problems(protocol: Protocol, problem: Any) -> Iterator[Problem]:
    name, values = protocol.variable.name, protocol.variable.values
    for column in ("precision", "batch", "context", "seed"):
        fixed = getattr(protocol.configuration, column)
        if column == name and fixed is not None:
            yield problem(
                f"configuration.{column}", fixed,
                Phrase(N_("`{name}` is the announced variable, and is fixed here as well"), {"name": column}),
                N_("Remove it here: its values stand under `variable`."),
            )  # fmt: skip
        if column != name and fixed is None:
            yield problem(
                f"configuration.{column}", None, Phrase(N_("`{key}` is not filled"), {"key": f"configuration.{column}"}),
                N_("Fill it: it is the same for every variant."),
            )  # fmt: skip
    lowest = {"batch": 1, "context": 1, "seed": 0}
    for value in values:
        fits = (
            value in ("fp32", "bf16", "fp16")
            if name == "precision"
            else isinstance(value, int) and not isinstance(value, bool) and value >= lowest[name]
        )
        if not fits:
            yield problem(
                "variable.values", value,
                Phrase(N_("{value} is not a value of `{name}`"), {"value": visible(str(value), 60), "name": name}),
                N_("Write whole numbers, or fp32, bf16, fp16 where the precision varies."),
            )  # fmt: skip
    if len(set(values)) < len(values):
        yield problem(
            "variable.values", None, Phrase(N_("a value of the variable stands twice")), N_("Name each value once.")
        )


def _quality_problems(protocol: Protocol, problem: Any) -> Iterator[Problem]:
    quality, known = protocol.quality, metric_named(protocol.quality.metric)
    if known is None and quality.direction is None:
        yield problem(
            "quality.direction", None,
            Phrase(N_("{metric} is not a known metric, and its direction is not said"),
                   {"metric": visible(quality.metric, 60)}),
            N_('Write direction = "more" where more is better, "less" where less is.'),
        )  # fmt: skip
    if known is not None and quality.direction not in (None, known.direction.value):
        yield problem(
            "quality.direction", quality.direction,
            Phrase(N_("the direction of {metric} is known, and is the other one"), {"metric": known.name}),
            N_("Remove it."),
        )  # fmt: skip
    for key, value in (("threshold", quality.threshold), ("reference_value", quality.reference_value)):
        if known is not None and not known.in_range(value):
            yield problem(
                f"quality.{key}", value,
                Phrase(N_("{value} is outside the bounds of {metric}: percent or fraction?"),
                       {"value": str(value), "metric": known.name}),
                N_("Write a fraction, such as 0.9 for 90 %."),
            )  # fmt: skip


def _model_problems(protocol: Protocol, problem: Any) -> Iterator[Problem]:
    model = protocol.model
    if model.workload == MEMORY_LESSON:
        yield problem(
            "model.workload", model.workload,
            Phrase(N_("the synthetic MLP teaches how to read memory; it has no corpus and is never measured")),
            N_("Name a workload that classifies texts; `gpucost memory` runs the lesson."),
        )  # fmt: skip
    if model.path is not None and model.package is not None:
        yield problem(
            "model.package", model.package, Phrase(N_("`model.path` and `model.package` both name a model")),
            N_("Keep the one that the work uses."),
        )  # fmt: skip


def unmeasurable(protocol: Protocol) -> Problem | None:
    """Why a sound protocol cannot be measured by this program: a metric that it cannot compute. None where it can."""
    if protocol.metric.name in COMPUTABLE:
        return None
    details = {"metric": visible(protocol.metric.name, 60), "known": ", ".join(COMPUTABLE)}
    return Problem(
        "quality.metric", None, protocol.metric.name,
        Phrase(N_("the metric {metric} cannot be computed here; these can: {known}"), details),
        Phrase(N_("Choose one of these; a quality that is not computed from the outputs is never taken as met.")),
    )  # fmt: skip
