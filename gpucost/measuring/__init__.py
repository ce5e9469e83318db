"""Measuring: from a sealed protocol to honest rows. An adapter: torch is imported only inside a worker's process."""
