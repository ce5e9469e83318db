"""Security headers of every answer of the server: nothing is loaded from elsewhere, and nobody frames the pages."""

import base64
import hashlib
import re
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SHELL = Path(streamlit.__file__).parent / "static" / "index.html"


def inline_script_hashes(shell: str) -> tuple[str, ...]:
    """The CSP sources that allow exactly the inline scripts of Streamlit's own HTML shell, and no other."""
    scripts = re.findall(r"<script>(.*?)</script>", shell, flags=re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


_SHELL_SCRIPTS = inline_script_hashes(_SHELL.read_text(encoding="utf-8"))
_SOURCES = (
    "default-src 'none'",
    # Eval serves the browser tests, whose waits are evaluated in the page; the pages draw without it.
    " ".join(("script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'", *_SHELL_SCRIPTS)),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    # 'self' holds the websocket of this very server too; a `ws:` would open every other one.
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
)
CONTENT_SECURITY_POLICY = "; ".join(_SOURCES)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}


class SecurityHeaders:
    """ASGI middleware that adds `HEADERS` to every HTTP answer."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, answer)
