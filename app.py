"""The dashboard: `streamlit run app.py`.

The pages are run by `pages/frame.py`, so that every page has the same frame at whatever address it is first asked for.
"""

import streamlit as st
from starlette.middleware import Middleware

from gpucost.dashboard.security import SecurityHeaders

app = st.App("pages/frame.py", middleware=[Middleware(SecurityHeaders)])
