"""Training the linear head of the workload `embedding-head`, on the training split and nothing else.

A multinomial logistic regression over frozen embeddings (scikit-learn, L-BFGS): from one seed and one split it gives
one head. The file names the split, the encoder and the seed, and its SHA-256 is the model's revision together with
the encoder's.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpucost.measuring.embedding_head import HEAD_FORMAT, Encoder
from gpucost.measuring.text_classification import Tokenising
from gpucost.measuring.workloads import Settings, TextItem

BATCH = 32
ITERATIONS = 2_000


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """What training gave: how many texts and classes, the share of its own training texts that it labels right, and
    the SHA-256 of the file."""

    texts: int
    classes: tuple[str, ...]
    training_accuracy: float
    sha256: str


def train_head(
    items: Sequence[TextItem],
    labels: Sequence[str],
    *,
    model: Path,
    model_revision: str,
    split_sha256: str,
    context: int,
    seed: int,
    target: Path,
    progress: Callable[[int], object] = lambda _done: None,
) -> TrainedHead:
    """Train a head and write it to a new file. `progress` is told how many texts are embedded.

    Raises FileExistsError where the file exists, ValueError where the labels hold fewer than two classes.
    """
    if target.exists():  # found before minutes of embedding, and once more when it is written
        raise FileExistsError(target)
    if len(set(labels)) < 2:
        raise ValueError("a head needs two classes or more in its training split")
    import numpy as np
    import torch
    from sklearn.linear_model import LogisticRegression

    settings = Settings("cpu", "fp32", BATCH, context, "cut-end", seed, tuple(sorted(set(labels))), model=model)
    encode, prepare = Encoder(settings), Tokenising(settings)
    vectors = []
    with torch.inference_mode():
        for start in range(0, len(items), BATCH):
            vectors.append(encode(prepare(items[start : start + BATCH])).numpy())
            progress(min(start + BATCH, len(items)))
    embedded = np.concatenate(vectors)
    fitted = LogisticRegression(C=10.0, max_iter=ITERATIONS, random_state=seed).fit(embedded, list(labels))
    weights, bias = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:  # scikit-learn keeps one row for two classes
        weights, bias = np.concatenate([-weights, weights]), np.concatenate([-bias, bias])
    written = json.dumps(
        {
            "format": HEAD_FORMAT,
            "classes": [str(name) for name in fitted.classes_],
            "encoder_revision": model_revision,
            "training_split_sha256": split_sha256,
            "training_texts": len(items),
            "context": context,
            "seed": seed,
            "weights": weights.tolist(),
            "bias": bias.tolist(),
        },
        ensure_ascii=False,
    ).encode()
    with target.open("xb") as file:
        file.write(written + b"\n")
    right = float((fitted.predict(embedded) == np.array(list(labels))).mean())
    return TrainedHead(
        len(items), tuple(str(name) for name in fitted.classes_), right, hashlib.sha256(written + b"\n").hexdigest()
    )
