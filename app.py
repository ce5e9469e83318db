"""The dashboard: `streamlit run app.py`.

The pages are run by `pages/frame.py`, so that every page has the same frame at whatever address it is first asked for.
"""

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from gpucost.dashboard.security import SecurityHeaders

# Streamlit holds `server.allowedHosts` to the websocket only; here it holds for every answer.
hosts = st.get_option("server.allowedHosts") or ["*"]
app = st.App(
    "pages/frame.py",
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
    ],
)
