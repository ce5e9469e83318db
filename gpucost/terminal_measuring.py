"""What people read on a terminal while something is measured, and after it. No forecast: passes are counted."""

import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from gpucost.cells import visible
from gpucost.columns import BY_NAME
from gpucost.language import N_, Translator
from gpucost.protocol import Problem, ProtocolFile
from gpucost.terminal import lined_table, open_console, print_heading

if TYPE_CHECKING:
    from gpucost.measuring.conduct import Outcome, Told
    from gpucost.measuring.memory_lesson import Lesson
    from gpucost.measuring.seal import Seal
    from gpucost.schedule import PlannedPass

WORDS = {
    "accepted": N_("✓ accepted"),
    "rejected": N_("⊘ rejected"),
    "failed": N_("✕ failed"),
    "setup": N_("▸ loading"),
}


class Progress:
    """The passes as they end, on standard error; a bar of passes on a terminal. Nothing is drawn during a pass."""

    def __init__(self, to: Translator) -> None:
        self._to = to
        self._console: Console = open_console(errors=True)
        self._bar: RichProgress | None = None
        if sys.stderr.isatty():
            self._bar = RichProgress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=self._console,
                auto_refresh=False, transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def hear(self, told: "Told") -> None:
        """One step of the run."""
        _ = self._to.gettext
        name = f"{told.variant_id} {told.phase} {told.run_index}"
        if told.what == "finished":
            seconds = "" if told.elapsed_seconds is None else f" {told.elapsed_seconds} s"
            reason = f" ({visible(told.reason, 200)})" if told.reason else ""
            self._console.print(Text(f"{_(WORDS[told.status])}  {name}{seconds}{reason}"))
        if self._bar is not None:
            doing = _("warming up") if told.what == "warm-up" else _("running") if told.what == "started" else ""
            self._bar.update(
                self._task, description=f"{doing} {name}".strip(), completed=told.done, total=told.total, refresh=True
            )


def print_outcome(outcome: "Outcome", to: Translator) -> None:
    """What a run left: where it stands, what it holds, and how to go on."""
    console, _ = open_console(), to.gettext
    if outcome.stopped:
        left = to.ngettext("Stopped with {count} pass to go.", "Stopped with {count} passes to go.", outcome.left)
        console.print(Text(left.format(count=outcome.left), style="bold"))
    kept = _("{rows} rows are kept in {folder}: {accepted} accepted, {rejected} rejected, {failed} failed.")
    console.print(
        Text(
            kept.format(
                rows=outcome.rows, folder=outcome.folder, accepted=outcome.accepted, rejected=outcome.rejected,
                failed=outcome.failed,
            )
        )
    )  # fmt: skip
    console.print(Text(_("Protocol SHA-256 {sha256}").format(sha256=outcome.seal.protocol_sha256)))
    if outcome.stopped:
        console.print(Text(_("Go on with: gpucost measure --resume --out {folder}").format(folder=outcome.folder)))
    console.print(Text(_("Review it with: gpucost check {folder}").format(folder=outcome.folder)))


def print_problems(problems: Sequence[Problem], to: Translator) -> None:
    """Why a protocol cannot be measured, on standard error."""
    if problems:
        open_console(errors=True).print(_problem_table(problems, to))


def _problem_table(problems: Iterable[Problem], to: Translator) -> object:
    _ = to.gettext
    rows = [
        (problem.key, "" if problem.line is None else str(problem.line),
         f"{problem.message.render(to)}. {problem.remedy.render(to)}")
        for problem in problems
    ]  # fmt: skip
    return lined_table((_("key"), _("line"), _("what, and what to do")), rows)


def print_protocol(
    file: ProtocolFile, problems: Sequence[Problem], sealed: "Seal | None", planned: "Sequence[PlannedPass]", to: Translator
) -> None:  # fmt: skip
    """What a protocol would run, or why it cannot be sealed."""
    console, _ = open_console(), to.gettext
    console.print(Text(_("{name}: SHA-256 {sha256}").format(name=visible(file.name), sha256=file.sha256)))
    if problems:
        count = to.ngettext(
            "{count} problem: it cannot be sealed.", "{count} problems: it cannot be sealed.", len(problems)
        )
        print_heading(console, count.format(count=len(problems)))
        console.print(_problem_table(problems, to))
    if sealed is not None:
        print_heading(console, _("It can be sealed."))
        console.print(Text(_("corpus {revision}").format(revision=sealed.corpus_revision)))
        console.print(Text(_("model {revision}").format(revision=sealed.model_revision)))
        console.print(Text(_("tokenizer {revision}").format(revision=sealed.tokenizer_revision)))
        console.print(Text(_("code {revision}").format(revision=sealed.code.told)))
    if planned:
        print_heading(console, _("Passes in their order ({count})").format(count=len(planned)))
        console.print(Text(", ".join(f"{one.variant_id} {one.phase} {one.run_index}" for one in planned)))


BAR_WIDTH = 48
"""Characters of the longest bar, where the terminal has room for it."""


def print_memory(learnt: "Lesson", to: Translator) -> None:
    """The four memory figures and how to read them: their meanings, one axis, what is never done with them."""
    from gpucost.measuring.memory_lesson import INTRODUCTION, MEANINGS, ORDER, REASONS

    console, _ = open_console(), to.gettext
    console.print(Text(_(INTRODUCTION)))
    console.print(Text(_(ORDER)))
    print_heading(console, _("Memory of {device}").format(device=visible(learnt.device)))
    ran = _("{layers} linear layers, {parameters} parameters, a batch of {batch} rows, fp32, PyTorch {version}")
    console.print(
        Text(
            ran.format(
                layers=learnt.model.layers, parameters=learnt.model.parameters, batch=learnt.model.batch,
                version=learnt.torch_version,
            )
        )
    )  # fmt: skip
    rows = [
        (_(BY_NAME[name].title), _("not recorded") if figure is None else str(figure), _(MEANINGS[name]))
        for name, figure in learnt.figures.items()
    ]
    console.print(lined_table((_("figure"), _("bytes"), _("what it means")), rows, right=(1,)))
    if learnt.unrecorded is not None:
        console.print(Text(_(learnt.unrecorded)))
    _print_bars(console, learnt, to)
    print_heading(console, _("How to read them together"))
    for title, why in REASONS:
        console.print(Text.assemble((_(title), "bold"), " ", _(why)))


def _print_bars(console: Console, learnt: "Lesson", to: Translator) -> None:
    """A bar for each recorded figure, all from zero on one axis; nothing where nothing was recorded."""
    recorded = {to.gettext(BY_NAME[name].title): (name, n) for name, n in learnt.figures.items() if n is not None}
    if not recorded:
        return
    longest = max(figure for _name, figure in recorded.values())
    title_width, digits = max(map(len, recorded)), len(str(longest))
    width = max(8, min(BAR_WIDTH, console.width - title_width - digits - 4))
    allocated, reserved = "#=" if console.options.ascii_only else "█▒"
    axis = to.gettext("On one axis, each bar from 0 ({allocated} allocated, {reserved} reserved), in bytes")
    print_heading(console, axis.format(allocated=allocated, reserved=reserved))
    for title, (name, figure) in recorded.items():
        ink = reserved if "reserved" in name else allocated
        # What was recorded and is not zero is never drawn as nothing.
        length = max(1, round(figure * width / longest)) if figure else 0
        console.print(Text(f"{title:<{title_width}}  {ink * length:<{width}}  {figure:>{digits}}"))
