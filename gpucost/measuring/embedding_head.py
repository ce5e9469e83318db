"""The workload `embedding-head`: a frozen text encoder and a linear head trained by `gpucost head train`.

A real classifier that runs offline anywhere: the encoder is a folder on disk, or carried by an installed package.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpucost.measuring.text_classification import (
    Tokenising,
    offline_unless,
    precision_name,
    quiet,
    refuse_foreign,
    torch_type,
)
from gpucost.measuring.workloads import Settings

HEAD_FORMAT = "gpucost linear head 1"


class Encoder:
    """A frozen encoder: mean of the last hidden states over the real tokens, divided by its Euclidean length."""

    def __init__(self, settings: Settings) -> None:
        offline_unless(settings.allow_download)
        import torch
        from transformers import AutoModel

        quiet()
        torch.manual_seed(settings.seed)
        self._torch = torch
        self._model: Any = AutoModel.from_pretrained(
            settings.model, dtype=torch_type(settings.precision), local_files_only=not settings.allow_download
        )
        self._model.to(settings.device).eval()

    @property
    def precision(self) -> str:
        """The precision of the weights."""
        return precision_name(self._model.dtype)

    @property
    def attention(self) -> str | None:
        """How attention is computed."""
        return getattr(self._model.config, "_attn_implementation", None)

    def __call__(self, batch: Any) -> Any:
        """One vector of length 1 for each text: a tensor of shape (texts, width)."""
        hidden = self._model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        return self._torch.nn.functional.normalize(mean, dim=-1)


class EmbeddingHead:
    """The encoder of the protocol's `path` or `package`, and the head of its `head`."""

    def load(self, settings: Settings) -> None:
        """Load the tokenizer, the encoder and the head. Raises ValueError where the head is none of ours, or its
        classes are not those of the protocol."""
        self._encode = Encoder(settings)
        import torch

        self.prepare = Tokenising(settings)
        self._torch = torch
        head = read_head(settings.head)
        refuse_foreign(head["classes"], settings.classes)
        self._classes: list[str] = head["classes"]
        kind = torch_type(settings.precision)
        self._weights = torch.tensor(head["weights"], dtype=kind, device=settings.device)
        self._bias = torch.tensor(head["bias"], dtype=kind, device=settings.device)

    def classify(self, batch: Any) -> list[str]:
        """The labels of a prepared batch."""
        with self._torch.inference_mode():
            scores = self._encode(batch) @ self._weights.T + self._bias
            chosen = scores.argmax(dim=-1)
        return [self._classes[index] for index in chosen.tolist()]

    def describe(self) -> Mapping[str, Any]:
        """The precision of the weights, and how many texts were truncated."""
        return {
            "precision": self._encode.precision,
            "truncated_texts": self.prepare.truncated_texts,
            "options": {"attention": self._encode.attention, "pooling": "mean of real tokens, length 1"},
        }


def read_head(path: Path | None) -> dict[str, Any]:
    """A head that `gpucost head train` saved: `classes`, `weights` of shape (classes, width), `bias`."""
    import json

    if path is None:
        raise ValueError("the workload embedding-head needs `model.head`; `gpucost head train` makes one")
    head: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if head.get("format") != HEAD_FORMAT:
        raise ValueError(f"{path.name} is not a head of gpucost: its format is {head.get('format')!r}")
    return head
