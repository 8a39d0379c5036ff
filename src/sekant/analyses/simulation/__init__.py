"""Motion in time.

`simulate.py` is the way in. `choice.py` picks a method, `problems.py` states the equations as it wants them,
`runs.py` runs it. With contacts, dry friction, events or delays, `events.py` goes from event to event: reactors
(`complementarity.py`, `declared_events.py`) say what happens there, clocks (`clocks.py`, `delays.py`) when it must
stop. `stepper.py` goes step by step, `ensemble.py` with many runs at once; `energy_watch.py` judges the result.
"""
