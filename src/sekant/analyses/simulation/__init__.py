"""Motion in time.

`simulate.py` is the entry point. `choice.py` chooses a method, `problems.py` states the equations in the form
that the method needs, `runs.py` runs it. With contacts, dry friction, events or delays, `events.py` goes from
event to event: reactors (`complementarity.py`, `declared_events.py`) decide what happens there; clocks
(`clocks.py`, `delays.py`) decide when the loop must stop. `stepper.py` advances step by step, `ensemble.py`
does many runs at once, and `energy_watch.py` checks the result.
"""
