"""What whoever runs the server configured: environment variables, else `[gpucost]` in the secrets."""

import os
from pathlib import Path

import streamlit as st


def configured_path(variable: str, setting: str) -> Path | None:
    """A configured path: an environment variable, else `[gpucost]` in the secrets; None where neither names one."""
    if value := os.environ.get(variable):
        return Path(value)
    secrets = Path(".streamlit/secrets.toml")
    if secrets.is_file() and "gpucost" in st.secrets and setting in st.secrets["gpucost"]:
        return Path(str(st.secrets["gpucost"][setting]))
    return None
