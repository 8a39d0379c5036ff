"""Motion in time.

`simulate.py` is the entry point. `choice.py` chooses a method, `problems.py` states the equations in the form
that the method needs, and `runs.py` runs the method. With contacts, dry friction, events or delays, the loop in
`events.py` runs from event to event: reactors (`complementarity.py`, `declared_events.py`) decide what happens at an
event, and clocks (`clocks.py`) decide when the loop must stop. `stepper.py` advances step by step, `ensemble.py`
runs several variants at once, and `energy_watch.py` checks the result.
"""
