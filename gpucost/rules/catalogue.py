"""Every rule, in one explicit tuple: what `gpucost rules` and the Protocol page list, and what the tests demand."""

from gpucost.findings import Rule
from gpucost.rules.conversion import CONVERSION_RULES
from gpucost.rules.experiments import EXPERIMENT_RULES
from gpucost.rules.format import FORMAT_RULES
from gpucost.rules.identifiers import IDENTIFIER_RULES
from gpucost.rules.outputs import OUTPUTS_RULES
from gpucost.rules.passes import PASS_RULES
from gpucost.rules.prices import PRICE_RULES
from gpucost.rules.repetitions import PASS_REPEATED, VARIANT_RULES
from gpucost.rules.tariffs import TARIFF_RULES

RULES: tuple[Rule, ...] = (
    *FORMAT_RULES,
    *IDENTIFIER_RULES,
    *PASS_RULES,
    PASS_REPEATED,
    *VARIANT_RULES,
    *EXPERIMENT_RULES,
    *OUTPUTS_RULES,
    *PRICE_RULES,
    *TARIFF_RULES,
    *CONVERSION_RULES,
)
