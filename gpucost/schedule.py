"""The order of the passes, fixed before the first of them. Protocol, section 3.

Warm passes alternate between the variants, or stand in an order drawn from the announced seed. What is drawn is a
function of the protocol alone, so that the seal can write it down and anybody can draw it again.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from gpucost.protocol import Protocol
from gpucost.verdicts import COLD, WARM


@dataclass(frozen=True, slots=True)
class PlannedPass:
    """One pass to come. `run_index` counts within variant and phase, from 1."""

    variant_id: str
    phase: str
    run_index: int


def planned_passes(protocol: Protocol) -> tuple[PlannedPass, ...]:
    """Every pass that has a corpus, in the announced order; the loads come with the processes.

    The cold passes stand first. `one-process` has one cold pass: only its first variant meets a fresh process.
    """
    names = [variant.variant_id for variant in protocol.variants]
    cold = names[:1] if protocol.isolation == "one-process" else names
    warm = warm_order(names, protocol.passes.warm, protocol.passes.order, drawing_seed(protocol))
    return (*(PlannedPass(name, COLD, 1) for name in cold), *warm)


def drawing_seed(protocol: Protocol) -> int:
    """The seed that an order is drawn from: the announced one, or the first of them where the seed varies."""
    return protocol.variants[0].seed


def warm_order(names: Sequence[str], passes: int, order: str, seed: int) -> tuple[PlannedPass, ...]:
    """The warm passes of some variants: each `passes` times, alternating or drawn from the seed."""
    if order == "alternating":
        return tuple(PlannedPass(name, WARM, index + 1) for index in range(passes) for name in names)
    drawn = [name for name in names for _ in range(passes)]
    random.Random(seed).shuffle(drawn)  # noqa: S311 - a written-down order, no secret
    counts = dict.fromkeys(names, 0)
    found = []
    for name in drawn:
        counts[name] += 1
        found.append(PlannedPass(name, WARM, counts[name]))
    return tuple(found)
