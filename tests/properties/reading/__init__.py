"""
A second reading of SEMANTICS S7 to S30 and S36 to S40, for one call a turn: plain dicts, no speed, nothing shared.

It knows the `Definition` and its expressions; of `guideway.runtime` it knows nothing.  `Model.on` takes one event and
gives the verdict it expects; `state`, `outcome` and the registers are then to be compared.
"""
