"""Changes at an instant between two stretches of motion: samples, delays, events, friction, contacts."""
