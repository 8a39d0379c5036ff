"""What a run evaluates at single states, compiled together: rates, outputs, event functions, forces of friction."""

from __future__ import annotations

from collections.abc import Sequence

from sekant.analyses.simulation.bound_forces import decisions_at_states
from sekant.analyses.simulation.problems import events_at_states
from sekant.analyses.simulation.runs import TAYLOR
from sekant.analyses.simulation.watched import event_functions_of
from sekant.engine.functions.motion import rates_at_states
from sekant.engine.functions.outputs import outputs_at_states
from sekant.engine.functions.single import compile_together
from sekant.engine.system import System


def compile_for_run(system: System, method: str, outputs: Sequence[str] | None, balance: bool) -> None:
    """Compile what a run with this method, or one to be chosen, evaluates at single states."""
    wanted = [rates_at_states(system, balance), outputs_at_states(system, outputs, balance)]
    name = "outputs"
    if system.reactions.bound_forces:
        name = "outputs and events"
        wanted += decisions_at_states(system)
        wanted += [events_at_states(system, event_functions_of(system))] if method != TAYLOR else []
    compile_together(system, name, wanted)
