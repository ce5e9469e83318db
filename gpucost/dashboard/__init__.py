"""What the pages are made of. It may import Streamlit and Altair; nothing of the core imports it."""
