"""What carries a status is never its colour alone, and the colours can be told apart by everyone."""

from itertools import combinations

import numpy as np
import pytest

from gpucost.dashboard.fragments import definitions, finding_cards, prose, shown
from gpucost.dashboard.markup import inert
from gpucost.dashboard.statuses import DARK, LIGHT
from gpucost.verdicts import Status

HUES = (Status.ACCEPTED, Status.REJECTED, Status.FAILED, Status.INVALID)
# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
# severity 1.0, on linear RGB.
DEFICIENCIES = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def linear(colour: str) -> np.ndarray:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of linear RGB."""
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    x, y, z = np.array(matrix) @ np.clip(rgb, 0, 1) / (0.95047, 1, 1.08883)
    f = [t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    light = sorted((float(linear(c) @ (0.2126, 0.7152, 0.0722)) for c in (one, other)), reverse=True)
    return (light[0] + 0.05) / (light[1] + 0.05)


@pytest.mark.parametrize(("palette", "paper"), [(LIGHT, "#FFFFFF"), (DARK, "#12161C")], ids=["light", "dark"])
def test_the_hues_of_a_theme_can_be_told_apart_and_read(palette: dict[Status, str], paper: str) -> None:
    for one, other in combinations(HUES, 2):
        for matrix in DEFICIENCIES.values():
            seen = [lab(np.array(matrix) @ linear(palette[status])) for status in (one, other)]
            assert float(np.linalg.norm(seen[0] - seen[1])) >= 26
    for status in HUES:
        assert contrast(palette[status], paper) >= 5


@pytest.mark.parametrize("value", ["a`b", "``", "`", "a\nb", "![x](y)", "", " x "])
def test_a_value_in_markdown_is_one_code_span(value: str) -> None:
    text = inert(value)
    fence = len(text) - len(text.lstrip("`"))
    assert fence
    assert text.endswith("`" * fence)
    assert "`" * fence not in text[fence:-fence]
    assert "\n" not in text


HOSTILE = '<img src=x onerror="alert(1)">\'&'


def test_html_of_a_value_is_text() -> None:
    pages = [
        shown(HOSTILE),
        prose(f"the `{HOSTILE}` of `batch`"),
        finding_cards([(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)]),
        definitions({HOSTILE: [(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)]}, explain=True),
    ]
    for page in pages:
        assert "<img" not in page
        assert 'onerror="' not in page
    assert "<code>batch</code>" in pages[1]
