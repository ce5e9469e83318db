"""The catalogue of rules. `gpucost.rules.catalogue.RULES` lists every one of them."""
