"""A workload that fails as a test asks: `[model.options] fault = "..."`, for batches of `at_batch` texts."""

import os
import signal
import sys
import time
from pathlib import Path

HELD = []


class Faulty:
    def load(self, settings):
        self._settings = settings
        self._options = dict(settings.options)
        self._calls = 0
        if self._options.get("fault") == "load-raises":
            raise RuntimeError("the weights are not there")
        if self._options.get("fault") == "load-waits":
            time.sleep(600)

    def classify(self, batch):
        self._calls += 1
        labels = [item.text.split()[-1] for item in batch]
        time.sleep(float(self._options.get("seconds_per_batch", 0)))
        if len(batch) != int(self._options.get("at_batch", len(batch))):
            return labels
        return self._faulty(self._options.get("fault", "none"), batch, labels)

    def _faulty(self, fault, batch, labels):
        if fault == "raises":
            raise ValueError("half way: the tokenizer met a text it cannot read")
        if fault == "raises-late" and self._calls >= 3:
            raise ValueError("half way through the corpus")
        if fault == "one-label-too-few":
            return labels[:-1]
        if fault == "one-label-too-many":
            return [*labels, labels[-1]]
        if fault == "id-twice":
            return [(batch[0].id, label) for label in labels]
        if fault == "unknown-class":
            return ["marketing", *labels[1:]]
        if fault == "nan":
            return [float("nan"), *labels[1:]]
        if fault == "not-json":
            return [object(), *labels[1:]]
        if fault == "wrong-answers":
            return [self._settings.classes[0]] * len(labels)
        if fault == "waits":
            time.sleep(600)
        if fault == "ignores-the-end":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        if fault == "overflow":
            HELD.append(bytearray(int(self._options["bytes"])))
        if fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "exits":
            sys.exit(3)
        if fault == "prints":
            print('{"said": "done", "elapsed_ns": 1}', flush=True)
        if fault == "waits-for-file":
            while not Path(str(self._options["file"])).exists():
                time.sleep(0.01)
        return labels

    def describe(self):
        return {"truncated_texts": 0, "options": {"fault": self._options.get("fault", "none")}}
