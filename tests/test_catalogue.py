"""The French catalogue holds every text of the sources, and nothing else."""

import gettext
import io
import re
import subprocess
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from gpucost.language import translator

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "gpucost" / "locale" / "fr" / "LC_MESSAGES"
PLACEHOLDER = re.compile(r"{\w+}|%\(\w+\)\w|%s")


def texts(message: object) -> tuple[str, ...]:
    return (message,) if isinstance(message, str) else tuple(message)  # type: ignore[arg-type]


def extracted(tmp_path: Path) -> Catalog:
    """The texts of the sources as they stand now."""
    target = tmp_path / "all.pot"
    subprocess.run(
        [
            sys.executable, "-m", "babel.messages.frontend", "-q", "extract", "-F", "babel.cfg", "-k", "N_", "-k", "_",
            "-k", "gettext", "-k", "ngettext:1,2", "--no-location", "-o", str(target), "gpucost", "pages", "app.py",
        ],
        cwd=ROOT,
        check=True,
    )  # fmt: skip
    with target.open("rb") as file:
        return read_po(file)


def french() -> Catalog:
    with (FOLDER / "gpucost.po").open("rb") as file:
        return read_po(file)


def test_every_text_has_its_french_and_nothing_is_left_over(tmp_path: Path) -> None:
    due = {texts(message.id) for message in extracted(tmp_path) if message.id}
    have = {texts(message.id): message for message in french() if message.id}
    assert sorted(due - set(have)) == []
    assert sorted(set(have) - due) == []
    for message in have.values():
        assert not message.fuzzy, message.id
        assert all(texts(message.string)), message.id


def test_placeholders_are_the_same() -> None:
    for message in french():
        if message.id:
            due = {name for text in texts(message.id) for name in PLACEHOLDER.findall(text)}
            have = {name for text in texts(message.string) for name in PLACEHOLDER.findall(text)}
            assert due == have, message.id


def test_the_compiled_catalogue_is_the_written_one() -> None:
    fresh = io.BytesIO()
    write_mo(fresh, french())
    fresh.seek(0)
    with (FOLDER / "gpucost.mo").open("rb") as file:
        shipped = gettext.GNUTranslations(file)
    again = gettext.GNUTranslations(fresh)
    for message in french():
        if message.id:
            one, many = texts(message.id)[0], texts(message.id)[-1]
            for count in (0, 1, 2):
                assert shipped.ngettext(one, many, count) == again.ngettext(one, many, count)


def test_zero_is_singular_in_french_and_plural_in_english() -> None:
    assert translator("fr").ngettext("{count} rule", "{count} rules", 0) == "{count} règle"
    assert translator("en").ngettext("{count} rule", "{count} rules", 0) == "{count} rules"
