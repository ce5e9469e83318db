"""A workload that fails as a test asks: `[model.options] fault = "..."`.

`at_batch`: only for batches (or, while loading, for a variant) of so many texts; `at_call`: only at this call of
`classify` in the process; `once`: a file that the first fault makes, and that keeps it from coming again. A text's last
word is its label, so that without a fault every answer is right.
"""

import os
import signal
import sys
import time
from pathlib import Path

HELD = []


def wait_for(name):
    """Say that this point is reached, and wait until a file exists."""
    Path(f"{name}.reached").touch()
    while not Path(name).exists():
        time.sleep(0.01)


if "FAULTY_IMPORT_WAITS_FOR" in os.environ:
    wait_for(os.environ["FAULTY_IMPORT_WAITS_FOR"])


if "FAULTY_IMPORTS_ONCE" in os.environ:
    if Path(os.environ["FAULTY_IMPORTS_ONCE"]).exists():
        raise ImportError("the library is gone")
    Path(os.environ["FAULTY_IMPORTS_ONCE"]).touch()
time.sleep(float(os.environ.get("FAULTY_IMPORT_SECONDS", "0")))


class Faulty:
    def load(self, settings):
        self._settings = settings
        self._options = dict(settings.options)
        self._fault = self._options.get("fault", "none")
        self._calls = 0
        if self._fault.startswith("load-") and self._is_due(settings.batch):
            self._fail_to_load()

    def classify(self, batch):
        self._calls += 1
        labels = [item.text.split()[-1] for item in batch]
        time.sleep(float(self._options.get("seconds_per_batch", 0)))
        due = self._options.get("at_call", self._calls) == self._calls and self._is_due(len(batch))
        return self._answer_wrongly(batch, labels) if due else labels

    def describe(self):
        told = {"truncated_texts": 0, "options": {"fault": self._fault}, "workers": workers_of_this_run()}
        for name in ("model_revision", "tokenizer_revision"):
            if name in self._options:
                told[name] = self._options[name]
        if self._fault == "describes-no-json" and self._is_due(self._settings.batch):
            told["options"] = {"type": object()}
        if self._fault == "killed-describing" and self._calls and self._is_due(self._settings.batch):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fault == "describes-two-lines":
            told["options"] = {"prompt": "first line\nsecond line"}
        return told

    def _is_due(self, texts):
        once = self._options.get("once")
        if texts != int(self._options.get("at_batch", texts)) or (once and Path(once).exists()):
            return False
        if once:
            Path(once).touch()
        return True

    def _fail_to_load(self):
        if self._fault == "load-raises":
            raise RuntimeError("the weights are not there")
        if self._fault == "load-waits":
            time.sleep(600)
        if self._fault == "load-waits-for-file":
            wait_for(self._options["file"])

    def _answer_wrongly(self, batch, labels):
        wrong = {
            "one-label-too-few": labels[:-1],
            "one-label-too-many": [*labels, labels[-1]],
            "id-twice": [(batch[0].id, label) for label in labels],
            "unknown-class": ["marketing", *labels[1:]],
            "nan": [float("nan"), *labels[1:]],
            "not-json": [object(), *labels[1:]],
            "half-a-character": ["\ud83d", *labels[1:]],
            "wrong-answers": [self._settings.classes[0]] * len(labels),
        }
        self._misbehave()
        return wrong.get(self._fault, labels)

    def _misbehave(self):
        fault = self._fault
        if fault == "raises":
            raise ValueError("half way: the tokenizer met a text it cannot read")
        if fault == "waits":
            time.sleep(600)
        if fault == "ignores-the-end":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        if fault == "takes-device-memory":
            import torch

            torch.empty(int(self._options["bytes"]), dtype=torch.uint8, device=self._settings.device)
        if fault == "overflow":
            HELD.append(bytearray(int(self._options["bytes"])))
        if fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "exits":
            sys.exit(3)
        if fault == "prints":
            sys.stdout.write('{"said": "done", "elapsed_ns": 1}\n')
            sys.stdout.flush()
        if fault == "waits-for-file":
            wait_for(self._options["file"])


def workers_of_this_run():
    """How many processes the conductor has now, this one included; None where the system does not say."""
    parent = os.getppid()
    try:
        return len(Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split())
    except OSError:
        return None
