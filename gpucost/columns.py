"""The 38 columns of the raw CSV, each described once.

The reader, the template, the typed row, the tables, the help and the documentation all come from `COLUMNS`.
Contract, section 2; protocol, section 4.
"""

from dataclasses import dataclass
from enum import Enum

from gpucost.cells import Cell, CellType, parse_cell
from gpucost.language import N_


class Unit(Enum):
    """The unit of a number; the value is the source text of its name."""

    NONE = ""
    SECONDS = N_("seconds")
    BYTES = N_("bytes")
    USD_MINOR = N_("US cents")
    DAYS = N_("days")
    COUNT = N_("count")
    TOKENS = N_("tokens")


class Group(Enum):
    """The groups of columns in the protocol's section 4; the value is the source text of the group's name."""

    IDENTITY = N_("Experiment and variant")
    REVISIONS = N_("Revisions and seed")
    MACHINE = N_("Machine and environment")
    CONFIGURATION = N_("Configuration applied")
    PASS = N_("Pass")
    CONTROL = N_("Control of the IDs and the format")
    QUALITY = N_("Quality rule")
    TIME = N_("Duration")
    MEMORY = N_("Memory of the measured device")
    PACKAGE = N_("Package")
    NOTES = N_("Notes")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in the CSV, its type, and what a person needs to fill or read it."""

    name: str
    cell_type: CellType
    group: Group
    title: str
    help: str
    unit: Unit = Unit.NONE
    section: str = "4"

    @property
    def is_money(self) -> bool:
        """Whether its integers are US cents: no decimals, not even zeros."""
        return self.unit is Unit.USD_MINOR

    def parse(self, text: str) -> Cell:
        """Parse the text of one cell of this column."""
        return parse_cell(text, self.cell_type, money=self.is_money)


_I, _T, _N, _D, _B = CellType.IDENTIFIER, CellType.TEXT, CellType.INTEGER, CellType.DECIMAL, CellType.BOOLEAN

COLUMNS: tuple[Column, ...] = (
    Column("experiment_id", _I, Group.IDENTITY, N_("Experiment"),
           N_("Stable identifier of one question: one corpus, one machine, one announced variable.")),
    Column("variant_id", _I, Group.IDENTITY, N_("Variant"),
           N_("Stable identifier of one value of the announced variable.")),
    Column("corpus_revision", _I, Group.REVISIONS, N_("Corpus revision"),
           N_("Immutable version or fingerprint of the corpus (a SHA-256, a commit), never a branch name.")),
    Column("model_revision", _I, Group.REVISIONS, N_("Model revision"),
           N_("Immutable version or fingerprint of the model, never `main` or `latest`.")),
    Column("tokenizer_revision", _I, Group.REVISIONS, N_("Tokenizer revision"),
           N_("Immutable version or fingerprint of the tokenizer.")),
    Column("seed", _N, Group.REVISIONS, N_("Seed"), N_("The random seed announced in the protocol.")),
    Column("gpu_model", _T, Group.MACHINE, N_("GPU model"),
           N_("The GPU observed on the machine, not the one promised by an offer. Empty on a CPU.")),
    Column("gpu_count", _N, Group.MACHINE, N_("GPUs used"),
           N_("How many GPUs the program really used. A lot of two does not mean that two were used. 0 on a CPU."),
           Unit.COUNT),
    Column("device", _T, Group.MACHINE, N_("Device"), N_("The device measured, such as `cuda:0` or `cpu`.")),
    Column("driver_version", _T, Group.MACHINE, N_("Driver"), N_("The GPU driver observed. Empty on a CPU.")),
    Column("python_version", _T, Group.MACHINE, N_("Python"), N_("The Python version observed.")),
    Column("torch_version", _T, Group.MACHINE, N_("PyTorch"), N_("The PyTorch version observed.")),
    Column("runtime_version", _T, Group.MACHINE, N_("Runtime"),
           N_("The CUDA or ROCm runtime observed. Empty on a CPU.")),
    Column("precision", _T, Group.CONFIGURATION, N_("Precision"),
           N_("The precision really applied, such as `fp32` or `bf16`.")),
    Column("batch", _N, Group.CONFIGURATION, N_("Batch"), N_("How many texts are processed together."), Unit.COUNT),
    Column("context", _N, Group.CONFIGURATION, N_("Context"),
           N_("The limit of the context. Truncating texts changes the work done."), Unit.TOKENS),
    Column("phase", _I, Group.PASS, N_("Phase"),
           N_("`load` (the loading alone), `cold` (first pass of a fresh process) or `warm` (after the announced"
              " warm-up). Another label is kept apart under its own name."), section="3"),
    Column("run_index", _N, Group.PASS, N_("Run"), N_("Number of the pass within its variant and phase."),
           section="3"),
    Column("warmup_iterations", _N, Group.PASS, N_("Warm-ups"),
           N_("How many warm-up iterations came before this pass, as announced."), Unit.COUNT, section="3"),
    Column("expected_ids", _N, Group.CONTROL, N_("Expected IDs"),
           N_("How many distinct IDs the corpus holds. The list itself is kept with the outputs."),
           Unit.COUNT, section="1"),
    Column("observed_ids", _N, Group.CONTROL, N_("Observed IDs"),
           N_("How many output rows were written, repetitions included."), Unit.COUNT, section="1"),
    Column("ids_match", _B, Group.CONTROL, N_("IDs match"),
           N_("`true` only after a real check: every expected ID exactly once, and no other."), section="1"),
    Column("format_valid", _B, Group.CONTROL, N_("Format valid"),
           N_("`true` only after a real check of every output row against the announced format."), section="1"),
    Column("quality_metric", _T, Group.QUALITY, N_("Quality metric"),
           N_("Name of the metric fixed before the measurement, such as `macro-f1`."), section="1"),
    Column("quality_threshold", _D, Group.QUALITY, N_("Quality threshold"),
           N_("The value to reach, fixed before the measurement. Equal is enough."), section="1"),
    Column("quality_tolerance", _D, Group.QUALITY, N_("Quality tolerance"),
           N_("Largest drop allowed against the reference value, absolute. It never softens the threshold."),
           section="1"),
    Column("quality_value", _D, Group.QUALITY, N_("Quality value"),
           N_("The value measured on the outputs of this very pass."), section="1"),
    Column("corpus_accepted", _B, Group.QUALITY, N_("Corpus accepted"),
           N_("`true` only where IDs, format and quality all hold. It is never believed by itself."), section="1"),
    Column("elapsed_seconds", _D, Group.TIME, N_("Duration"),
           N_("Raw duration of the announced scope. Empty for a failed pass, never zero."), Unit.SECONDS,
           section="3"),
    Column("baseline_allocated_bytes", _N, Group.MEMORY, N_("Baseline allocated"),
           N_("Bytes held by tensors on the measured device before the pass."), Unit.BYTES, section="3"),
    Column("baseline_reserved_bytes", _N, Group.MEMORY, N_("Baseline reserved"),
           N_("Bytes held by the allocator on the measured device before the pass; includes the allocated ones."),
           Unit.BYTES, section="3"),
    Column("peak_allocated_bytes", _N, Group.MEMORY, N_("Peak allocated"),
           N_("Highest number of bytes held by tensors during the pass, absolute."), Unit.BYTES, section="3"),
    Column("peak_reserved_bytes", _N, Group.MEMORY, N_("Peak reserved"),
           N_("Highest number of bytes held by the allocator during the pass, absolute. Both peaks may be reached"
              " at different moments: they are never added nor subtracted."), Unit.BYTES, section="3"),
    Column("duration_days", _N, Group.PACKAGE, N_("Package length"),
           N_("The whole package rented: 3, 7 or 30 days."), Unit.DAYS),
    Column("lots", _N, Group.PACKAGE, N_("Lots"),
           N_("How many lots were billed. A lot may hold several GPUs; its price covers them all."), Unit.COUNT),
    Column("package_total_usd_minor", _N, Group.PACKAGE, N_("Package total"),
           N_("The price of the whole package, all lots, in US cents. It is one expense, whatever the number of"
              " passes."), Unit.USD_MINOR),
    Column("accepted_unique_corpora", _N, Group.PACKAGE, N_("Distinct accepted corpora"),
           N_("How many distinct useful corpora were accepted over the package. Repetitions of one corpus count"
              " once, and the cells of several rows are never added."), Unit.COUNT),
    Column("notes", _T, Group.NOTES, N_("Notes"),
           N_("Timer scope, incidents, decisions on quality, code revision, references of the pieces kept.")),
)  # fmt: skip

NAMES: tuple[str, ...] = tuple(column.name for column in COLUMNS)
BY_NAME: dict[str, Column] = {column.name: column for column in COLUMNS}
POSITIONS: dict[str, int] = {name: position for position, name in enumerate(NAMES)}
HEADER = ",".join(NAMES)
"""The header line of the CSV and the whole of the template, without its line end."""

IDENTITY = ("experiment_id", "variant_id", "phase", "run_index")
USEFUL_WORK = ("corpus_revision", "expected_ids", "quality_metric", "quality_threshold", "quality_tolerance")
CONFIGURATION = ("model_revision", "tokenizer_revision", "seed", "precision", "batch", "context", "gpu_count")
ENVIRONMENT = ("gpu_model", "device", "driver_version", "python_version", "torch_version", "runtime_version")
MEMORY = tuple(column.name for column in COLUMNS if column.group is Group.MEMORY)
PACKAGE_DAYS = (3, 7, 30)
"""The only lengths a package has, in days. Contract, section 1."""
