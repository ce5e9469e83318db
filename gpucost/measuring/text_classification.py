"""The workload `text-classification`: a Hugging Face model folder on disk, with its tokenizer.

Nothing is fetched from a hub unless the protocol says `allow_download = true`; that path was never run here.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from gpucost.measuring.workloads import Settings, TextItem


class TextTooLongError(ValueError):
    """A text is longer than the context, and the protocol refuses truncation."""


def offline_unless(allowed: bool) -> None:  # noqa: FBT001 - one switch, named at its only calls
    """Keep the Hugging Face libraries off the network before they are imported."""
    if not allowed:
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def quiet() -> None:
    """Keep the progress bars of the libraries out of the run's log. To be called once they may be imported."""
    from transformers.utils import logging

    logging.disable_progress_bar()


def torch_type(precision: str) -> Any:
    """The PyTorch type of a precision."""
    import torch

    return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]


def precision_name(kind: Any) -> str:
    """The name of a PyTorch type, as it stands in the CSV."""
    name = str(kind).removeprefix("torch.")
    return {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(name, name)


def refuse_foreign(labels: Sequence[str], classes: Sequence[str]) -> None:
    """Raise ValueError where a model can give a label that the protocol does not know."""
    foreign = sorted(set(labels) - set(classes))
    if foreign:
        raise ValueError(f"the model knows classes that the protocol does not: {', '.join(foreign[:6])}")


class Tokenising:
    """The tokenizer of a folder, with the same truncation for every batch, and a count of what it truncated."""

    def __init__(self, settings: Settings) -> None:
        from transformers import AutoTokenizer

        self._settings = settings
        self._tokenizer: Any = AutoTokenizer.from_pretrained(
            settings.tokenizer or settings.model, local_files_only=not settings.allow_download
        )
        self._truncated: dict[str, bool] = {}

    def __call__(self, batch: Sequence[TextItem]) -> Any:
        """Token tensors of a batch, padded to its longest text, on the device."""
        texts = [item.text for item in batch]
        whole = self._tokenizer(texts, truncation=False, verbose=False)["input_ids"]
        for item, ids in zip(batch, whole, strict=True):
            self._truncated[item.id] = len(ids) > self._settings.context
        if self._settings.truncation == "refuse" and any(self._truncated[item.id] for item in batch):
            first = next(item.id for item in batch if self._truncated[item.id])
            raise TextTooLongError(f"the text {first} is longer than {self._settings.context} tokens")
        tokens = self._tokenizer(
            texts, truncation=True, max_length=self._settings.context, padding=True, return_tensors="pt"
        )
        return {name: tensor.to(self._settings.device) for name, tensor in tokens.items()}

    @property
    def truncated_texts(self) -> int:
        """How many of the texts seen so far are longer than the context."""
        return sum(self._truncated.values())


class TextClassification:
    """`AutoModelForSequenceClassification` and `AutoTokenizer` over a folder. The label is the largest logit's."""

    def load(self, settings: Settings) -> None:
        """Load the model and the tokenizer. Raises ValueError where the model knows classes that the protocol does
        not, such as `LABEL_0` of a model saved without their names."""
        offline_unless(settings.allow_download)
        import torch
        from transformers import AutoModelForSequenceClassification

        quiet()
        torch.manual_seed(settings.seed)
        self._torch = torch
        self.prepare = Tokenising(settings)
        self._model: Any = AutoModelForSequenceClassification.from_pretrained(
            settings.model, dtype=torch_type(settings.precision), local_files_only=not settings.allow_download
        )
        self._model.to(settings.device).eval()
        named = self._model.config.id2label
        self._labels = [named[index] for index in range(len(named))]
        refuse_foreign(self._labels, settings.classes)

    def classify(self, batch: Any) -> list[str]:
        """The labels of a prepared batch."""
        with self._torch.inference_mode():
            chosen = self._model(**batch).logits.argmax(dim=-1)
        return [self._labels[index] for index in chosen.tolist()]

    def describe(self) -> Mapping[str, Any]:
        """The precision of the weights, and how many texts were truncated."""
        return {
            "precision": precision_name(self._model.dtype),
            "truncated_texts": self.prepare.truncated_texts,
            "options": {"attention": getattr(self._model.config, "_attn_implementation", None)},
        }
