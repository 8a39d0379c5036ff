"""Pages on which a reader drives a car: `sekant drive car.yaml --live drive.html`."""
