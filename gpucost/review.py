"""A review: raw CSVs and run folders in, statuses, figures, comparability and findings out.

This is the one road from bytes to verdicts. The command line prints a `Review`, and every page reads one.
Contract, sections 2 to 4.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from gpucost.announced import Announced
from gpucost.cells import Cell
from gpucost.evidence import FolderEvidence, PassEvidence, recompute
from gpucost.findings import Detail, Finding, Locator, Rows, Severity
from gpucost.folder import RunFolder
from gpucost.offers import Tariffs
from gpucost.reader import RawFile, read_csv
from gpucost.rules.examination import RowRule, examine_rows
from gpucost.rules.experiments import EXPERIMENT_RULES, examine_experiment, warm_up_counts
from gpucost.rules.format import CELL_RESPELLED, FAULT_RULES
from gpucost.rules.identifiers import IDENTIFIER_RULES, examine_identifiers
from gpucost.rules.outputs import ACCEPTED_AGAINST_PROTOCOL
from gpucost.rules.passes import PASS_RULES
from gpucost.rules.prices import PRICE_RULES, examine_prices
from gpucost.rules.repetitions import VARIANT_RULES, repeated_passes
from gpucost.table import Table
from gpucost.verdicts import (
    STATUS_COLUMNS,
    ExperimentVerdict,
    Status,
    Statuses,
    VariantFigures,
    acceptance_conditions,
    announced_rows,
    experiment_verdicts,
    statuses,
    variant_figures,
    whole_variants,
)


@dataclass(frozen=True)
class Source:
    """What somebody hands in: a raw CSV, or the `results.csv` of a run's folder with the pieces beside it."""

    name: str
    data: bytes
    folder: RunFolder | None = None

    @classmethod
    def of_folder(cls, folder: RunFolder) -> "Source":
        """The source that a run's folder stands for."""
        return cls(folder.results_name, folder.pieces["results.csv"], folder)


@dataclass(frozen=True)
class ReviewedFile:
    """Provenance of one file: `sha256` and `size_bytes` are those of the bytes received."""

    name: str
    sha256: str
    size_bytes: int
    rows: int
    has_outputs: bool


@dataclass(frozen=True)
class Review:
    """Everything that is known of the files under review. Rows are counted from 0 over all files, in order."""

    files: tuple[ReviewedFile, ...]
    table: Table
    findings: tuple[Finding, ...]
    statuses: Statuses
    evidence: Mapping[int, PassEvidence]
    variants: tuple[VariantFigures, ...]
    experiments: tuple[ExperimentVerdict, ...]
    announced: Mapping[int, Announced] = field(default_factory=dict)
    """What the protocol files say, by the position of the file whose folder they stand in."""

    def announced_of(self, row: int) -> Announced | None:
        """What the protocol of a row's folder says, None for a lone CSV."""
        return self.announced.get(int(self.table.files[row]))

    @cached_property
    def locator(self) -> Locator:
        """Names the places of the rows."""
        table = self.table
        return Locator([file.name for file in self.files], table.files, table.row_numbers, table.line_numbers)

    @cached_property
    def counts(self) -> dict[Status, int]:
        """How many passes stand in each status; every row is counted once."""
        counted = np.bincount(self.statuses, minlength=len(Status))
        return {status: int(counted[status]) for status in Status}

    @cached_property
    def finding_counts(self) -> dict[Severity, int]:
        """How many places each severity has."""
        return {
            severity: sum(finding.places_count for finding in self.findings if finding.severity is severity)
            for severity in Severity
        }

    @property
    def exit_status(self) -> Literal[0, 1]:
        """0 where nothing is rejected, failed or wrong; warnings and notices never change it."""
        counts = self.counts
        wrong = counts[Status.REJECTED] + counts[Status.FAILED] + counts[Status.INVALID]
        return 1 if wrong or self.finding_counts[Severity.ERROR] else 0

    def evidence_of(self, row: int) -> Literal["outputs", "row"]:
        """Whether the verdict of a row was recomputed from its individual outputs."""
        found = self.evidence.get(row)
        return "outputs" if found is not None and found.whole else "row"

    @cached_property
    def _findings_by_row(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Every row with a finding, ascending, and which finding it is."""
        concerned = [(index, finding.rows) for index, finding in enumerate(self.findings) if len(finding.rows)]
        if not concerned:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        rows = np.concatenate([rows for _, rows in concerned])
        which = np.concatenate([np.full(len(rows), index, np.int64) for index, rows in concerned])
        order = np.argsort(rows, kind="stable")
        return rows[order], which[order]

    def findings_of(self, row: int) -> list[Finding]:
        """The findings that concern a row, the gravest first; those said once for many rows included."""
        rows, which = self._findings_by_row
        chosen = which[np.searchsorted(rows, row) : np.searchsorted(rows, row, side="right")]
        return sorted((self.findings[index] for index in chosen.tolist()), key=lambda found: found.severity.rank)

    @cached_property
    def finding_totals(self) -> npt.NDArray[np.int64]:
        """For each row and severity (in order), how many findings stand on the row itself: shape (rows, 3)."""
        totals = np.zeros((len(self.table), len(Severity)), np.int64)
        for finding in self.findings:
            if finding.each_row:
                totals[finding.rows, finding.severity.rank] += 1
        return totals

    def verdict_on(self, experiment_id: str) -> ExperimentVerdict | None:
        """The verdict on the experiment of that name."""
        return next((verdict for verdict in self.experiments if verdict.experiment_id == experiment_id), None)

    def ranking(self, experiment_id: str) -> tuple[VariantFigures, ...]:
        """The variants of a comparable experiment by their warm median, the shortest first; empty where nothing
        may be ranked: not comparable, or warm-ups that differ. Variants without an accepted pass are not in it."""
        verdict = self.verdict_on(experiment_id)
        if verdict is None or not verdict.comparable or len(warm_up_counts(self.table, verdict)) > 1:
            return ()
        warm = [v for v in self.variants if v.experiment_id == experiment_id and v.phase == "warm"]
        return tuple(
            figures
            for _, figures in sorted(
                ((v.median_seconds, v) for v in warm if v.median_seconds is not None), key=lambda pair: pair[0]
            )
        )

    def cell(self, row: int, name: str) -> Cell:
        """One parsed cell."""
        return self.table.cell(row, name)


def review(sources: Sequence[Source], tariffs: Tariffs | None = None) -> Review:
    """Review some files together. Never raises on what stands in them."""
    raw = [read_csv(source.name, source.data) for source in sources]
    table = Table.join([file.table for file in raw])
    names = [file.name for file in raw]
    evidence, announced, outputs_findings = _outputs(sources, raw)
    findings = [
        *_reader_findings(raw),
        *_cell_findings(table),
        *(found for rule in IDENTIFIER_RULES for found in examine_identifiers(rule, table)),
        *(found for rule in PASS_RULES for found in examine_rows(rule, table, _without(rule, table, announced))),
        *repeated_passes(table, names.__getitem__),
        *outputs_findings,
        *_against_protocol(table, announced, evidence),
    ]
    found = statuses(table, _rows_with_errors(table, findings), announced)
    variants = tuple(variant_figures(table, found))
    experiments = tuple(
        replace(verdict, same_order=_same_order(verdict, evidence)) for verdict in experiment_verdicts(table, found)
    )
    findings += _group_findings(table, found, variants, experiments)
    if tariffs is not None:
        findings += tariffs.findings
        findings += [one for rule in PRICE_RULES for one in examine_prices(rule, table, tariffs)]
    files = tuple(
        ReviewedFile(file.name, file.sha256, file.size_bytes, file.rows, source.folder is not None)
        for file, source in zip(raw, sources, strict=True)
    )
    placed = tuple(_placed(finding, table) for finding in findings)
    return Review(files, table, placed, found, evidence, variants, experiments, announced)


def _offsets(raw: Sequence[RawFile]) -> list[int]:
    offsets = [0]
    for file in raw:
        offsets.append(offsets[-1] + file.rows)
    return offsets


def _reader_findings(raw: Sequence[RawFile]) -> Iterator[Finding]:
    for position, (file, offset) in enumerate(zip(raw, _offsets(raw), strict=False)):
        for finding in file.findings:
            yield replace(finding, file=position, rows=finding.rows + offset)


def _without(rule: RowRule, table: Table, announced: Mapping[int, Announced]) -> Rows | None:
    """The rows that a rule looks at, where a protocol answers for the others what a CSV cannot; None for all rows."""
    answers: dict[str, Callable[[Announced], object]] = {
        "tolerance-unchecked": lambda said: said.tolerance is not None and said.reference_value is not None,
        "metric-unknown": lambda said: said.direction,
    }
    if rule.code not in answers:
        return None
    answered = [file for file, said in announced.items() if answers[rule.code](said)]
    return np.flatnonzero(table.readable & ~np.isin(table.files, answered)) if answered else None


def _against_protocol(
    table: Table, announced: Mapping[int, Announced], evidence: Mapping[int, PassEvidence]
) -> Iterator[Finding]:
    """Rows that say accepted where their protocol file says otherwise, and the row and the CSV alone cannot tell."""
    for row, cells, said in announced_rows(table, announced, STATUS_COLUMNS):
        if not cells.flag("corpus_accepted") or (row in evidence and evidence[row].whole):
            continue
        alone = {condition.name for condition in acceptance_conditions(cells) if condition.met is False}
        for condition in acceptance_conditions(cells, said):
            if condition.met is False and condition.name not in alone:
                details: dict[str, Detail] = {"condition": condition.phrase}
                rows = np.array([row], np.int64)
                yield Finding(
                    rule=ACCEPTED_AGAINST_PROTOCOL, column="corpus_accepted", value="true", details=details, rows=rows,
                    each_row=True,
                )  # fmt: skip


def _outputs(
    sources: Sequence[Source], raw: Sequence[RawFile]
) -> tuple[dict[int, PassEvidence], dict[int, Announced], list[Finding]]:
    evidence: dict[int, PassEvidence] = {}
    announced: dict[int, Announced] = {}
    findings: list[Finding] = []
    for position, (source, file, offset) in enumerate(zip(sources, raw, _offsets(raw), strict=False)):
        if source.folder is None:
            continue
        found: FolderEvidence = recompute(source.folder, file.table)
        evidence |= {offset + row: one for row, one in found.passes.items()}
        if found.announced is not None:
            announced[position] = found.announced
        findings += [replace(one, file=position, rows=one.rows + offset) for one in found.findings]
    return evidence, announced, findings


def _cell_findings(table: Table) -> Iterator[Finding]:
    for name, cell, rows in table.irregular_cells():
        rule = FAULT_RULES[cell.fault] if cell.fault else CELL_RESPELLED
        details = {} if cell.fault else {"canonical": cell.canonical}
        yield Finding(rule=rule, column=name, value=cell.text, details=details, rows=rows, each_row=True)


def _rows_with_errors(table: Table, findings: Sequence[Finding]) -> npt.NDArray[np.bool_]:
    wrong = table.faulty | ~table.readable
    for finding in findings:
        if finding.each_row and finding.severity is Severity.ERROR:
            wrong[finding.rows] = True
    return wrong


def _same_order(verdict: ExperimentVerdict, evidence: Mapping[int, PassEvidence]) -> bool:
    """Whether the controls that name an order of inputs all name the same one."""
    orders = {evidence[row].input_order_sha256 for row in verdict.compared_rows.tolist() if row in evidence}
    return len(orders - {None}) < 2 if evidence else True


def _group_findings(
    table: Table,
    found: Statuses,
    variants: Sequence[VariantFigures],
    experiments: Sequence[ExperimentVerdict],
) -> Iterator[Finding]:
    for rule in VARIANT_RULES:
        for figures in whole_variants(variants) if rule.whole_variant else variants:
            yield from rule.examine(table, found, figures)
    for verdict in experiments:
        for experiment_rule in EXPERIMENT_RULES:
            yield from examine_experiment(experiment_rule, table, verdict)


def _placed(finding: Finding, table: Table) -> Finding:
    """The finding with its file, where all the rows it is about stand in one."""
    if finding.file is not None or finding.each_row or not len(finding.rows):
        return finding
    files = np.unique(table.files[finding.rows])
    return replace(finding, file=int(files[0])) if len(files) == 1 else finding
