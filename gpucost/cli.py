"""The command line: `python -m gpucost COMMAND`. Contract, section 4.

Exit status: 0 = done and nothing rejected; 1 = done, and errors, rejections or failures were found; 2 = could not be
done, with one message on standard error. Each command imports only what it needs.
"""

import argparse
import gc
import gettext
import io
import os
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from gpucost.columns import HEADER
from gpucost.language import (
    CATALOGUES,
    LANGUAGES,
    N_,
    Language,
    Translator,
    choose_language,
    system_language,
    translator,
)
from gpucost.measuring_commands import MakeCommand, add_head, add_measuring, add_protocol

DONE, FOUND, IMPOSSIBLE = 0, 1, 2
INTERRUPTED = 130

ARGPARSE_TEXTS = (
    N_("usage: "), N_("options"), N_("positional arguments"), N_("show this help message and exit"),
    N_("the following arguments are required: %s"), N_("unrecognized arguments: %s"), N_("expected one argument"),
    N_("argument %(argument_name)s: %(message)s"), N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("invalid %(type)s value: %(value)r"), N_("%(prog)s: error: %(message)s\n"),
    N_("expected at least one argument"),
)  # fmt: skip
"""The standard library's own words on the command line, listed so that the catalogue translates them."""


class Impossible(Exception):  # noqa: N818 - it says what happened, like the exit status it becomes
    """The command could not be done: exit status 2 and this one message."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Bad usage exits with 2 through argparse."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ✓ still shows every row
    language = _language(words)
    to = translator(language)
    _speak_through_argparse(language)
    options = _parser(to).parse_args(words)
    command: Callable[[argparse.Namespace, Translator], int] = options.command
    # A command makes many small objects and no cycles: the collector would walk them again and again for nothing,
    # and the process ends with the command.
    gc.disable()
    try:
        return command(options, to)
    except Impossible as reason:
        print(f"gpucost: {reason}", file=sys.stderr)
        return IMPOSSIBLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`| head`): that is its right, and no error of ours.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - closed with the process
        return DONE


def _language(words: Sequence[str]) -> Language:
    for position, word in enumerate(words):
        if word == "--lang" and position + 1 < len(words):
            return choose_language([words[position + 1]])
        if word.startswith("--lang="):
            return choose_language([word.removeprefix("--lang=")])
    return system_language()


def _speak_through_argparse(language: Language) -> None:
    """Have argparse find its own words in our catalogue. This process is the command line, and speaks one language."""
    os.environ["LANGUAGE"] = language
    gettext.bindtextdomain("gpucost", str(CATALOGUES))
    gettext.textdomain("gpucost")


def _parser(to: Translator) -> argparse.ArgumentParser:
    _ = to.gettext
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--lang", choices=LANGUAGES, help=_("language of what is printed (default: the locale's)"))
    machine = argparse.ArgumentParser(add_help=False)
    machine.add_argument("--json", action="store_true", help=_("print one JSON object, and nothing else"))

    parser = argparse.ArgumentParser(
        prog="gpucost",
        parents=[shared],
        description=_("Accept a corpus before comparing its cost."),
        epilog=_("Example: gpucost check results.csv --tariffs tariffs.csv"),
    )
    commands = parser.add_subparsers(title=_("commands"), metavar=_("COMMAND"), required=True)

    def command(
        name: str,
        run: Callable[[argparse.Namespace, Translator], int],
        help_text: str,
        example: str,
        *,
        json: bool = True,
        among: Any = None,
    ) -> argparse.ArgumentParser:
        made = (among or commands).add_parser(
            name,
            parents=[shared, machine] if json else [shared],
            help=help_text,
            description=help_text,
            epilog=_("Example: {command}").format(command=example),
        )
        made.set_defaults(command=run)
        return made

    made = command(
        "template", _template, _("print the headers-only CSV"), "gpucost template -o results.csv", json=False
    )
    made.add_argument("-o", "--output", metavar=_("FILE"), help=_("write it to this new file"))

    made = command(
        "check", _check, _("review raw CSVs or run folders: statuses, figures, comparability, findings"),
        "gpucost check results.csv run-folder --tariffs tariffs.csv",
    )  # fmt: skip
    made.add_argument("paths", nargs="+", metavar=_("FILE"), help=_("a raw CSV, or a run's folder"))
    made.add_argument("--tariffs", metavar=_("FILE"), help=_("a tariff CSV to hold package prices against"))

    made = command(
        "convert", _convert, _("write the canonical CSV of a spreadsheet's export, listing every changed cell"),
        "gpucost convert export.csv -o results.csv",
    )  # fmt: skip
    made.add_argument("path", metavar=_("FILE"), help=_("the export"))
    made.add_argument("-o", "--output", required=True, metavar=_("FILE"), help=_("where the canonical CSV goes"))

    made = command(
        "audit", _audit, _("check individual outputs against the expected IDs and a reference"),
        "gpucost audit --expected ids.txt --outputs out.jsonl --reference ref.jsonl --metric macro-f1 --threshold 0.9",
    )  # fmt: skip
    made.add_argument("--expected", required=True, metavar=_("FILE"), help=_("expected IDs: text, CSV or JSONL"))
    made.add_argument("--outputs", required=True, metavar=_("FILE"), help=_("outputs: JSONL or CSV with id and label"))
    made.add_argument("--reference", metavar=_("FILE"), help=_("reference labels: JSONL or CSV with id and label"))
    made.add_argument("--classes", metavar="A,B,…", help=_("the allowed labels (default: those of the reference)"))
    made.add_argument("--metric", help=_("quality metric, such as macro-f1"))
    made.add_argument("--threshold", type=_decimal, help=_("the value to reach; equal is enough"))
    made.add_argument("--tolerance", type=_decimal, help=_("largest drop against the reference value"))
    made.add_argument("--reference-value", type=_decimal, help=_("the value that the tolerance is measured from"))
    made.add_argument(
        "--not-in", metavar=_("FILE"), help=_("training or tuning split that must share no ID and no text")
    )

    made = command(
        "packages", _packages, _("whole packages of 3, 7 or 30 days by offer, in exact cents; nothing is projected"),
        "gpucost packages --tariffs tariffs.csv --gpu B200 --lots 2",
    )  # fmt: skip
    made.add_argument("--tariffs", required=True, metavar=_("FILE"), help=_("the tariff CSV"))
    made.add_argument("--gpu", metavar=_("MODEL"), help=_("only the offers of this GPU model"))
    made.add_argument("--days", type=int, choices=(3, 7, 30), help=_("only packages of this length"))
    made.add_argument("--lots", type=_positive, default=1, help=_("how many lots (default: 1)"))
    made.add_argument(
        "--accepted-results", type=_count, metavar="N",
        help=_("distinct corpora accepted over one period; without --days the same one stands beside each package"),
    )  # fmt: skip

    def family(name: str, help_text: str, add: Callable[[MakeCommand, Translator], None]) -> None:
        """A command of several: `gpucost protocol new`, `gpucost protocol check`."""
        made = commands.add_parser(name, parents=[shared], help=help_text, description=help_text)
        add(partial(command, among=made.add_subparsers(title=_("commands"), metavar=_("COMMAND"), required=True)), to)

    family("protocol", _("write or check a protocol file"), add_protocol)
    add_measuring(command, to)
    family("head", _("train the linear head of the workload embedding-head"), add_head)

    command("rules", _rules, _("list every rule, with its code, severity and section"), "gpucost rules --json")
    command("env", _env, _("what was observed of this machine"), "gpucost env --json")
    return parser


def _decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite():
        raise argparse.ArgumentTypeError(
            _translate(N_("{value} is not a decimal number such as 0.9")).format(value=text)
        )
    return value


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(
            _translate(N_("{value} is not a whole number of 1 or more")).format(value=text)
        )
    return int(text)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(
            _translate(N_("{value} is not a whole number of 0 or more")).format(value=text)
        )
    return int(text)


def _translate(text: str) -> str:
    return gettext.dgettext("gpucost", text)


def _read(path: str | Path, to: Translator) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Impossible(_cannot_open(path, error, to)) from None


def _cannot_open(path: str | Path, error: OSError, to: Translator) -> str:
    why = to.gettext("no such file") if isinstance(error, FileNotFoundError) else (error.strerror or str(error))
    return to.gettext("cannot read {path}: {why}").format(path=path, why=why)


def _template(options: argparse.Namespace, to: Translator) -> int:
    if options.output is None:
        print(HEADER)
        return DONE
    try:
        with Path(options.output).open("x", encoding="utf-8", newline="") as file:
            file.write(HEADER + "\n")
    except FileExistsError:
        raise Impossible(
            to.gettext("{path} exists already; it was left as it is").format(path=options.output)
        ) from None
    except OSError as error:
        raise Impossible(_cannot_open(options.output, error, to)) from None
    return DONE


def _check(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.offers import read_tariffs
    from gpucost.review import Source, review

    sources = []
    for path in options.paths:
        if not Path(path).is_dir():
            sources.append(Source(Path(path).name, _read(path, to)))
            continue
        from gpucost.measuring.runs import open_run

        try:
            sources.append(Source.of_folder(open_run(Path(path))))
        except OSError as error:
            raise Impossible(_cannot_open(error.args[0] if error.errno is None else path, error, to)) from None
    tariffs = read_tariffs(Path(options.tariffs).name, _read(options.tariffs, to)) if options.tariffs else None
    reviewed = review(sources, tariffs)
    if options.json:
        from gpucost.report import review_json

        for piece in review_json(reviewed, to):
            sys.stdout.buffer.write(piece)
    else:
        from gpucost.terminal import print_review

        print_review(reviewed, to)
    return reviewed.exit_status


def _convert(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.conversion import convert

    source, target = Path(options.path), Path(options.output)
    data = _read(source, to)
    if target.exists() and target.samefile(source):
        raise Impossible(
            to.gettext("{path} is the input itself; the original is never overwritten").format(path=target)
        )
    done = convert(source.name, data)
    if done.canonical is not None:
        try:
            target.write_bytes(done.canonical)
        except OSError as error:
            raise Impossible(
                to.gettext("cannot write {path}: {why}").format(path=target, why=error.strerror or error)
            ) from None
    if options.json:
        _print_json(done.to_json(to))
    else:
        from gpucost.terminal import print_conversion

        print_conversion(done, str(target), to)
    return FOUND if done.canonical is None else DONE


def _audit(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.audit import AuditUsageError, Document, audit

    def document(path: str | None) -> Document | None:
        return None if path is None else Document(Path(path).name, _read(path, to))

    expected, outputs = document(options.expected), document(options.outputs)
    if expected is None or outputs is None:
        raise Impossible(to.gettext("--expected and --outputs are needed"))
    try:
        report = audit(
            expected, outputs, reference=document(options.reference),
            classes=tuple(options.classes.split(",")) if options.classes is not None else None,
            metric=options.metric, threshold=options.threshold, tolerance=options.tolerance,
            reference_value=options.reference_value, not_in=document(options.not_in),
        )  # fmt: skip
    except AuditUsageError as error:
        raise Impossible(error.phrase.render(to)) from None
    if options.json:
        _print_json(report.to_json(to))
    else:
        from gpucost.terminal import print_audit

        print_audit(report, to)
    return report.exit_status


def _packages(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.offers import packages, read_tariffs

    tariffs = read_tariffs(Path(options.tariffs).name, _read(options.tariffs, to))
    table = packages(
        tariffs, gpu=options.gpu, days=options.days, lots=options.lots, accepted_results=options.accepted_results
    )
    if options.json:
        _print_json({"packages": [package.to_json() for package in table.packages]})
        from gpucost.terminal import print_refusals

        print_refusals(table, to)
    else:
        from gpucost.terminal import print_packages

        print_packages(table, options.days, options.accepted_results, to)
    return table.exit_status


def _rules(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.rules.catalogue import RULES

    if options.json:
        _print_json(
            {
                "rules": [
                    {
                        "code": rule.code, "severity": rule.severity.value, "scope": rule.scope.value,
                        "section": rule.section, "title": to.gettext(rule.title),
                        "message": to.gettext(rule.message), "remedy": to.gettext(rule.remedy),
                    }
                    for rule in RULES
                ]
            }
        )  # fmt: skip
    else:
        from gpucost.terminal import print_rules

        print_rules(RULES, to)
    return DONE


def _env(options: argparse.Namespace, to: Translator) -> int:
    from gpucost.environment import observe

    observed = observe()
    if options.json:
        _print_json(observed)
    else:
        from gpucost.terminal import print_environment

        print_environment(observed, to)
    return DONE


def _print_json(value: object) -> None:
    import orjson

    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def run() -> NoReturn:
    """Entry point of the `gpucost` script."""
    sys.exit(main())
