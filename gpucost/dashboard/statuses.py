"""Colours of a status, light and dark. The word and the shape always stand beside them.

The hues keep a distance of 26 (CIE76) under simulated colour blindness and a contrast of 5:1; a test measures both.
"""

from gpucost.verdicts import Status

LIGHT: dict[Status, str | None] = {
    Status.ACCEPTED: "#1059DB",
    Status.REJECTED: "#BB4C04",
    Status.FAILED: "#5A0A26",
    Status.INVALID: "#6B6B6B",
    Status.SETUP: None,
}
DARK: dict[Status, str | None] = {
    Status.ACCEPTED: "#5DB0F7",
    Status.REJECTED: "#FCC545",
    Status.FAILED: "#FF4B57",
    Status.INVALID: "#8A90A0",
    Status.SETUP: None,
}
TEXT = {"light": "#1B2330", "dark": "#E8ECF2"}


def status_colours(*, dark: bool) -> dict[Status, str]:
    """The colour of each status in a theme; loading rows take the colour of the text."""
    chosen = DARK if dark else LIGHT
    return {status: colour or TEXT["dark" if dark else "light"] for status, colour in chosen.items()}
