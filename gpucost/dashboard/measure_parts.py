"""Parts of the Measure page: a protocol before its run, and runs as they go. The disk is the only state."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

from gpucost.cells import visible
from gpucost.columns import BY_NAME, MEMORY
from gpucost.dashboard import desk, parts, variant_parts, workshop
from gpucost.dashboard.fragments import check_list, definitions, finding_cards, paragraph, status_line, verdict_banner
from gpucost.dashboard.layout import section
from gpucost.dashboard.markup import inert
from gpucost.dashboard.wording import exact_number, say
from gpucost.folder import RESULTS
from gpucost.language import N_
from gpucost.measuring.launch import launch, measure_command, new_run_name, request_stop, resume
from gpucost.measuring.preflight import Check, Preflight, preflight, try_load
from gpucost.measuring.rowcells import row_status
from gpucost.measuring.runs import RunState, changes, read_run
from gpucost.phrases import Phrase
from gpucost.protocol import Problem, Protocol
from gpucost.review import Review, Source, review
from gpucost.schedule import planned_passes
from gpucost.sentences import incident

View = Literal["runs", "new", "memory"]
REFRESH_SECONDS = 2.0
PREFLIGHT_SECONDS = 10
"""How long a preflight is shown before the machine is looked at again; starting looks once more in any case."""
SHOWN_ROWS = 200
SHOWN_LOG = 4_000
_NEW_NAME = "measure_new_run"
_LOADED = "measure_loaded"

STATES: dict[str, tuple[str, str]] = {
    "starting": ("…", N_("starting")),
    "running": ("▶", N_("running")),
    "stopping": ("■", N_("stopping")),
    "finished": ("✓", N_("finished")),
    "stopped": ("■", N_("stopped")),
    "interrupted": ("✕", N_("interrupted")),
    "refused": ("⊘", N_("not started")),
}
"""Mark and word of each state of a run."""
STATE_SENTENCES: dict[str, str] = {
    "starting": N_("The libraries are being imported and the protocol is being sealed; no pass has begun."),
    "running": N_("It runs by itself: it goes on when this page is closed, or this server stops."),
    "stopping": N_("It was asked to stop: the pass under way becomes a failed row, and what was measured is kept."),
    "finished": N_("Every planned pass has its row."),
    "stopped": N_("It was stopped by the user. What was measured is kept, and it can be gone on with."),
    "interrupted": N_("Its process is gone without a word: it was killed, or the machine went down. What was measured"
                      " is kept; going on marks the pass it was in as failed."),
    "refused": N_("It ended before its seal, and measured nothing. Its log says why."),
}  # fmt: skip
ROW_WORDS = {
    "accepted": N_("✓ accepted"),
    "rejected": N_("⊘ rejected"),
    "failed": N_("✕ failed"),
    "setup": N_("▸ loading"),
}


def why_no_launch() -> None:
    """Launching is off, and what would turn it on."""
    _ = say().gettext
    st.info(
        _("This server may not start measurements. It does so only where it answers this machine alone"
          " (`server.address`), or where whoever runs it set `GPUCOST_ALLOW_LAUNCH=1`. Runs can still be followed.")
    )  # fmt: skip


def choose_view(runs: Mapping[str, RunState]) -> View:
    """Runs, a new run, or the memory lesson. A run that goes on is shown first."""
    _ = say().gettext
    words: dict[View, str] = {"runs": _("Runs"), "new": _("New run"), "memory": _("Learn to read memory")}
    default: View = "runs" if any(run.alive for run in runs.values()) else "new"
    parts.chosen_by_link("view", "measure_view", list(words), default)
    chosen = st.segmented_control(
        _("What to do"), list(words), format_func=lambda view: words.get(view, view), required=True,
        label_visibility="collapsed", key="measure_view",
    )  # fmt: skip
    view = chosen if chosen in words else default
    st.query_params["view"] = view
    return view


# A new run.


def new_run(protocols: Mapping[str, Path], *, allowed: bool) -> None:
    """Choose a protocol, see what will run, and start it."""
    to = say()
    _ = to.gettext
    if not protocols:
        _no_protocol()
        return
    name = st.selectbox(
        _("Protocol"), list(protocols), format_func=lambda text: visible(text, 80), key="protocol_shown",
        bind="query-params",
    )  # fmt: skip
    path = protocols.get(name)
    if path is None:
        st.warning(_("This protocol is not among those offered."), icon=None)
        return
    try:
        found = _looked_at(path, path.stat().st_mtime_ns)
    except OSError as error:
        st.warning(_("The protocol file cannot be read: {why}").format(why=inert(error.strerror or "?")), icon=None)
        return
    _verdict(found)
    if found.problems:
        _problems(found.problems)
    if found.protocol is None or not found.file.sealable:
        return
    _what_will_run(found, found.protocol, path)
    _preflight(found, path)
    _start(found, found.protocol, path, allowed=allowed)


@st.cache_resource(show_spinner=False, max_entries=8, ttl=PREFLIGHT_SECONDS)
def _looked_at(path: Path, changed_ns: int) -> Preflight:  # noqa: ARG001 - a changed file is looked at anew
    return preflight(path, workshop.runs_folder())


def _no_protocol() -> None:
    _ = say().gettext
    folder = str(workshop.protocols_folder())
    st.info(_("No protocol file yet. Write one with these two commands, fill it, and it is offered here."))
    st.code(f"mkdir -p {folder}\npython -m gpucost protocol new -o {folder}/my-experiment.toml", language="sh")
    st.caption(
        _("Protocol files stand in {folder}; `GPUCOST_PROTOCOLS` names another folder, and `GPUCOST_RUNS` where runs are"
          " kept.").format(folder=inert(folder))
    )  # fmt: skip


def _verdict(found: Preflight) -> None:
    to = say()
    colours = parts.ink().colours
    if found.problems or found.protocol is None:
        count = len(found.problems)
        sentence = to.ngettext(
            "{count} problem keeps this protocol from being sealed", "{count} problems keep this protocol from being sealed",
            count,
        ).format(count=count)  # fmt: skip
        st.html(verdict_banner(sentence, good=False, colour=colours["rejected"]))
    elif not found.ready:
        sentence = to.gettext("The protocol can be sealed, and something on this machine is not ready")
        st.html(verdict_banner(sentence, good=False, colour=colours["rejected"]))
    else:
        sentence = to.gettext("The protocol can be sealed, and this machine is ready")
        st.html(verdict_banner(sentence, good=True, colour=colours["accepted"]))


def _problems(problems: tuple[Problem, ...]) -> None:
    to = say()
    cards = []
    for problem in problems:
        where = "" if problem.line is None else to.gettext("line {line}").format(line=problem.line)
        cards.append((visible(problem.key, 60), where, problem.message.render(to), problem.remedy.render(to), ""))
    st.html(finding_cards(cards))


def _what_will_run(found: Preflight, protocol: Protocol, path: Path) -> None:
    """Everything that the seal fixes, in words and figures, and the command line for it."""
    to = say()
    _ = to.gettext
    section(_("What will run"))
    planned = planned_passes(protocol)
    variants = protocol.variants
    values = ", ".join(str(value) for value in protocol.variable.values)  # noqa: PD011 - no data frame
    seal = found.seal
    none = _("not computed yet")
    package = protocol.package
    groups = {
        _("Question"): [
            _entry(_("Experiment"), "experiment.id", protocol.experiment.id),
            _entry(_("Useful unit"), "experiment.useful_unit", protocol.experiment.useful_unit),
            _entry(_("Announced variable"), "variable", f"{protocol.variable.name} = {values}"),
            _entry(_("Passes"), "passes", _words(_("{count} planned: {warm} warm for each of {variants} variants, and cold"))
                   .format(count=len(planned), warm=protocol.passes.warm, variants=len(variants))),
            _entry(_("Order"), "passes.order", _words(_(ORDER_WORDS[protocol.passes.order]))),
            _entry(_("Isolation"), "passes.isolation", _words(_(ISOLATION_WORDS[protocol.isolation]))),
            _entry(_("Warm-ups"), "passes.warmup_iterations", str(protocol.passes.warmup_iterations),
                   _("whole corpora, untimed, in every new process")),
            _entry(_("Timer"), "passes.scope", _words(_(variant_parts.SCOPES[protocol.passes.scope]))),
            _entry(_("Time limit"), "passes.time_limit_seconds", str(protocol.passes.time_limit_seconds),
                   _("seconds a pass")),
        ],
        _("Quality rule"): [
            _entry(_("Metric"), "quality.metric", protocol.metric.name),
            _entry(_("Threshold"), "quality.threshold", exact_number(str(protocol.quality.threshold))),
            _entry(_("Tolerance"), "quality.tolerance",
                   _words(_("{tolerance} from {reference}: {meaning}")).format(
                       tolerance=exact_number(str(protocol.quality.tolerance)),
                       reference=exact_number(str(protocol.quality.reference_value)),
                       meaning=protocol.quality.tolerance_meaning)),
            _entry(_("Classes"), "output.classes", ", ".join(protocol.output.classes)),
        ],
        _("Work"): [
            _entry(_("Workload"), "model.workload", protocol.model.workload),
            _entry(_("Device"), "configuration.device", protocol.configuration.device),
            _entry(_("CPU threads"), "configuration.threads", str(protocol.configuration.threads)),
            _entry(_("Precision"), "precision", ", ".join(dict.fromkeys(v.precision for v in variants))),
            _entry(_("Context"), "context", ", ".join(dict.fromkeys(str(v.context) for v in variants)), _("tokens")),
            _entry(_("Truncation"), "configuration.truncation", _words(_(TRUNCATION_WORDS[protocol.configuration.truncation]))),
            _entry(_("Seed"), "seed", ", ".join(dict.fromkeys(str(v.seed) for v in variants))),
        ],
        _("Seal"): [
            _entry(_("Protocol SHA-256"), "protocol", found.file.sha256),
            _entry(_("Corpus revision"), "corpus_revision", seal.corpus_revision if seal else none),
            _entry(_("Model revision"), "model_revision", seal.model_revision if seal else none),
            _entry(_("Tokenizer revision"), "tokenizer_revision", seal.tokenizer_revision if seal else none),
            _entry(_("Code"), "code", seal.code.told if seal else none),
            _entry(_("Package"), "package", _("not announced") if package is None else
                   _("{days} days, {lots} lots").format(days=package.duration_days, lots=package.lots)),
        ],
    }  # fmt: skip
    left, right = list(groups)[:2], list(groups)[2:]
    columns = st.columns(2)
    for column, names in zip(columns, (left, right), strict=True):
        column.html(definitions({name: groups[name] for name in names}, explain=False))
    with st.expander(_("The passes in their order ({count})").format(count=len(planned))):
        st.text(", ".join(f"{one.variant_id} {one.phase} {one.run_index}" for one in planned))
    st.caption(_("The same run from a terminal:"))
    words = measure_command(path, workshop.runs_folder() / protocol.experiment.id)
    st.code(" ".join(["python", *(visible(word, 200) for word in words[1:])]), language="sh", wrap_lines=True)


ORDER_WORDS = {
    "alternating": N_("alternating: the variants take turns"),
    "drawn": N_("drawn beforehand from the seed, and written into the seal"),
}
ISOLATION_WORDS = {
    "process-per-variant": N_("a process for each variant, which stays alive"),
    "process-per-pass": N_("a fresh process for each pass"),
    "one-process": N_("one process for all: only its first variant has a cold pass"),
}
TRUNCATION_WORDS = {
    "cut-end": N_("the end of a longer text is cut; how many were is recorded"),
    "refuse": N_("a longer text fails the pass"),
}


def _words(text: str) -> str:
    """Our own words beside values: their no-break spaces are typography, and nothing that a reader must be shown."""
    return text.replace("\u00a0", " ").replace("\u202f", " ")


def _entry(title: str, name: str, value: str, unit: str = "") -> tuple[str, str, str, str, str]:
    return title, name, value, unit, name


def _preflight(found: Preflight, path: Path) -> None:
    """What was looked at before the run, and the model on demand."""
    _ = say().gettext
    section(_("Preflight"))
    checks = list(found.checks)
    loaded: dict[str, Check] = st.session_state.setdefault(_LOADED, {})
    if found.file.sha256 in loaded:
        checks.append(loaded[found.file.sha256])
    colours = parts.ink().colours
    rows = [(check.passed, _(check.name), check.seen.render(say())) for check in checks]
    st.html(check_list(rows, good=colours["accepted"], bad=colours["rejected"]))
    if workshop.may_launch() and st.button(_("Load the model once, to see that it loads")):
        with st.spinner(_("Loading in a process of its own…")):
            loaded[found.file.sha256] = try_load(path)
        st.rerun()


def _start(found: Preflight, protocol: Protocol, path: Path, *, allowed: bool) -> None:
    """The button that starts, once. The name of the run was made when the form was drawn: a second click on it finds
    the folder there and starts nothing."""
    _ = say().gettext
    name: str = st.session_state.setdefault(_new_name_key(path), new_run_name(protocol.experiment.id))
    st.caption(
        _("Starting seals this protocol: SHA-256 {sha256}. The run goes to {folder}.").format(
            sha256=inert(found.file.sha256), folder=inert(str(workshop.runs_folder() / name))
        )
    )
    ready = allowed and found.ready
    st.button(
        _("Seal and start"),
        type="primary",
        disabled=not ready,
        help=None if ready else _(NOT_READY),
        on_click=_begin,
        args=(path, name),
    )


def _new_name_key(path: Path) -> str:
    """Where the name of a protocol's next run is kept: each protocol has a run's name of its own."""
    return f"{_NEW_NAME}-{path}"


def _begin(path: Path, name: str) -> None:
    """Start a run and go to it. The folder of that name is made once: whoever comes second finds the run there."""
    if workshop.may_launch() and path in workshop.offered_protocols().values():
        launch(path, workshop.runs_folder() / name)
        st.session_state.pop(_new_name_key(path), None)
        st.session_state["measure_view"] = "runs"
        st.session_state["run_shown"] = name


NOT_READY = N_("The preflight has to pass, and this server must be allowed to start measurements.")


# Runs that were started, here or on a terminal.


def follow(runs: Mapping[str, RunState], *, allowed: bool) -> None:
    """Choose a run and follow it: live while it goes on, as it stands afterwards."""
    to = say()
    _ = to.gettext
    if not runs:
        st.info(
            _("No run stands in {folder} yet. Start one here, or on a terminal with `gpucost measure`.").format(
                folder=inert(str(workshop.runs_folder()))
            )
        )
        return
    names = list(runs)
    first = next((name for name, run in runs.items() if run.alive), names[0])
    parts.chosen_by_link("follow", "run_shown", names, first)
    name = st.selectbox(
        _("Run"), names, key="run_shown", format_func=lambda text: _run_label(runs, text),
    )  # fmt: skip
    st.query_params["follow"] = name
    run = runs.get(name)
    if run is None:
        return

    @st.fragment(run_every=REFRESH_SECONDS if run.alive else None)
    def live() -> None:
        now = read_run(run.folder)
        if run.state != now.state:
            st.rerun()
        _run_panel(now, allowed=allowed)

    live()


def _run_label(runs: Mapping[str, RunState], name: str) -> str:
    run = runs.get(name)
    if run is None:
        return visible(name, 80)
    mark, word = STATES[run.state]
    return f"{mark} {say().gettext(word)} · {visible(name, 80)}"


def _run_panel(run: RunState, *, allowed: bool) -> None:
    to = say()
    _ = to.gettext
    colours = parts.ink().colours
    mark, word = STATES[run.state]
    good = run.state in ("starting", "running", "finished")
    st.html(status_line(mark, _(word), colours["accepted" if good else "rejected"], _(STATE_SENTENCES[run.state])))
    _changes(run)
    if run.planned:
        share = run.done / len(run.planned)
        st.progress(share, text=_progress_text(run))
    _controls(run, allowed=allowed)
    if run.rows:
        _live_figures(run)
    _provenance(run)
    tail = run.log_tail()[-SHOWN_LOG:]
    with st.expander(_("Log"), expanded=run.state == "refused"):
        st.code(tail or _("nothing yet"), language=None, wrap_lines=True)


def _progress_text(run: RunState) -> str:
    to = say()
    text = to.gettext("{done} of {total} passes have their row").format(done=run.done, total=len(run.planned))
    event = run.last_event
    if run.state != "running" or "variant_id" not in event:
        return text
    doing = {
        "load-started": N_("{variant} is loading"),
        "warm-up-started": N_("{variant} is warming up"),
        "pass-started": N_("{variant}, {phase} {run}, is under way"),
    }.get(str(event.get("event")))
    if doing is None:
        return text
    names = {"variant": visible(str(event["variant_id"]), 40), "phase": visible(str(event.get("phase", "")), 20),
             "run": str(event.get("run_index", ""))}  # fmt: skip
    return f"{text} · {to.gettext(doing).format(**names)}"


def _changes(run: RunState) -> None:
    """Say where the protocol or the code is no longer the sealed one."""
    _ = say().gettext
    changed = changes(run.folder)
    if changed:
        st.warning(
            _("Changed since this run was sealed: {what}. It is not gone on with; measure the new state in a new run.")
            .format(what=inert(", ".join(changed), 300)),
            icon=None,
        )  # fmt: skip


def _controls(run: RunState, *, allowed: bool) -> None:
    _ = say().gettext
    with st.container(horizontal=True):
        if run.alive and allowed:
            stopping = run.state == "stopping"
            if st.button(_("Stop this run"), disabled=stopping, key=f"stop-{run.name}"):
                request_stop(run.folder)
                st.rerun(scope="app")
        offered = run.resumable and allowed and not changes(run.folder)
        if offered and st.button(_("Go on with this run"), key=f"resume-{run.name}"):
            resume(run.folder)
            st.rerun(scope="app")
        if (run.folder / RESULTS).is_file():
            primary: Literal["primary", "secondary"] = "secondary" if run.alive else "primary"
            if st.button(_("Open in the review"), type=primary, key=f"open-{run.name}"):
                desk.choose_run(run.name)
                st.switch_page("review.py")


@st.cache_resource(show_spinner=False, max_entries=4)
def _reviewed(name: str, data: bytes) -> Review:
    return review([Source(f"{name}/{RESULTS}", data)])


def _live_figures(run: RunState) -> None:
    """The points as they come, and the rows behind them. The whole review, with the outputs, is one click away."""
    to = say()
    _ = to.gettext
    reviewed = _reviewed(run.name, (run.folder / RESULTS).read_bytes())
    if reviewed.experiments:
        variant_parts.duration_panels(reviewed, reviewed.experiments[0])
    section(_("Rows, the latest first"))
    rows = list(reversed(run.rows))[:SHOWN_ROWS]
    recorded = [name for name in MEMORY if any(row[name] for row in rows)]
    unit = _("bytes")
    header = [_("status"), _("variant"), _("phase"), _("run"), _("seconds"), _("quality"), _("incident"),
              *(f"{_(BY_NAME[name].title)} ({unit})" for name in recorded)]  # fmt: skip
    table = [
        (
            _(ROW_WORDS[row_status(row)]), visible(row["variant_id"], 60), row["phase"], row["run_index"],
            row["elapsed_seconds"] or "–", row["quality_value"] or "–", _incident(row),
            *(row[name] or "–" for name in recorded),
        )
        for row in rows
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(table, columns=header), hide_index=True, alt=_("Rows of the run, the latest first"))
    parts.more(len(run.rows) - len(rows))


def _incident(row: Mapping[str, str]) -> str:
    return incident(row["notes"]) if row_status(row) == "failed" else ""


def _provenance(run: RunState) -> None:
    """Where the run stands, which process it is, and its seal."""
    to = say()
    _ = to.gettext
    facts = [
        Phrase(N_("Folder {folder}"), {"folder": str(run.folder)}),
        Phrase(N_("process {pid}, started {at}"),
               {"pid": str(run.launch.get("pid", "?")), "at": str(run.launch.get("started_at", "?"))}),
    ]  # fmt: skip
    if run.seal:
        details = {"sha256": str(run.seal.get("protocol_sha256")), "at": str(run.seal.get("sealed_at"))}
        facts.append(Phrase(N_("protocol SHA-256 {sha256}, sealed {at}"), details))
    st.html(paragraph(" · ".join(fact.render(to) for fact in facts)))
    if run.seal and any(row[name] for row in run.rows for name in MEMORY):
        st.caption(_("Memory figures cover the measured process alone, on its one device."))
