"""What is said about a user's data: rules, severities, findings.

A rule is one named object with a permanent code. A finding is one rule that spoke, once, about one cause:
it holds every row that this cause concerns, so that a million equal faults cost one object. `Finding.places`
opens it again, one place at a time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum

import numpy as np
import numpy.typing as npt

from gpucost.cells import visible
from gpucost.language import Translator
from gpucost.phrases import Detail, Phrase, render_detail

__all__ = [
    "NO_ROWS",
    "Detail",
    "Finding",
    "Locator",
    "Phrase",
    "Place",
    "Rows",
    "Rule",
    "Scope",
    "Severity",
    "render_detail",
]

Rows = npt.NDArray[np.int64]
"""Row positions in a review, ascending, counted from 0 over all its files."""

NO_ROWS: Rows = np.empty(0, dtype=np.int64)


class Severity(StrEnum):
    """error: cannot be used as it stands. warning: usable, and a reviewer must read it. notice: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(Severity).index(self)


class Scope(Enum):
    """What a rule looks at."""

    FILE = "file"
    CELL = "cell"
    ROW = "row"
    VARIANT = "variant"
    EXPERIMENT = "experiment"
    PRICE = "price"
    OUTPUTS = "outputs"
    TARIFF = "tariff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. `title`, `message` and `remedy` are source texts, marked with `N_`; the last two are
    `str.format` templates over `{value}`, `{column}` and the finding's details. `section` is the protocol's."""

    code: str
    scope: Scope
    severity: Severity
    section: str
    title: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands. `row` counts data rows from 1; `line` is the physical line where the row starts."""

    file: str | None
    row: int | None
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule that spoke about one cause.

    `file` is the position of the file in the review (None: over several files). `rows` are the rows concerned;
    with `each_row` the finding stands on every one of them, otherwise it is said once for all of them.
    `line` and `row` place a finding that has no row of the table (a header, a broken line, a tariff row).
    """

    rule: Rule
    column: str | None = None
    value: str | None = None
    details: Mapping[str, Detail] = field(default_factory=dict)
    file: int | None = None
    rows: Rows = field(default_factory=lambda: NO_ROWS)
    each_row: bool = False
    row: int | None = None
    line: int | None = None

    @property
    def severity(self) -> Severity:
        """The severity of its rule."""
        return self.rule.severity

    @property
    def places_count(self) -> int:
        """How many places `places` gives."""
        return len(self.rows) if self.each_row else 1

    def message(self, to: Translator) -> str:
        """What is wrong, with the value, in the reader's language."""
        return self._fill(to.gettext(self.rule.message), to)

    def remedy(self, to: Translator) -> str:
        """What to do about it, in the reader's language."""
        return self._fill(to.gettext(self.rule.remedy), to)

    def _fill(self, template: str, to: Translator) -> str:
        value = to.gettext("(empty)") if self.value is None else visible(self.value)
        details = {name: render_detail(detail, to) for name, detail in self.details.items()}
        place = {"line": "" if self.line is None else str(self.line), "row": "" if self.row is None else str(self.row)}
        return template.format(**{"value": value, "column": self.column or "", **place, **details})


@dataclass(frozen=True, slots=True)
class Locator:
    """Names the places of a review's rows: `file` positions, data row numbers and physical lines, one per row."""

    file_names: Sequence[str]
    files: npt.NDArray[np.int32]
    row_numbers: npt.NDArray[np.int64]
    line_numbers: npt.NDArray[np.int64]

    def places(self, finding: Finding) -> Iterator[Place]:
        """Every place of a finding: one per row where it stands on each row, otherwise one."""
        if not finding.each_row:
            name = self.file_names[finding.file] if finding.file is not None else None
            yield Place(name, finding.row, finding.line)
            return
        rows = finding.rows
        for file, row, line in zip(
            self.files[rows].tolist(), self.row_numbers[rows].tolist(), self.line_numbers[rows].tolist(), strict=True
        ):
            yield Place(self.file_names[file], row, line)
