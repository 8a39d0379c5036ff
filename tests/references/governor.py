"""The stiff flyball governor in three coordinates, by hand: its equations are few, and it takes many evaluations."""

from __future__ import annotations

from decimal import Decimal

from jets import GRAVITY, PI, sin_cos

RADIUS, WIDTH = Decimal("0.05"), Decimal("0.01")
SHAFT, ROD, SLIDER, GLOBE = Decimal("0.3"), Decimal("0.3"), Decimal(3), Decimal(5)
STIFFNESS, DAMPING, UNSTRETCHED = Decimal("1.6e6"), Decimal("8e4"), Decimal("0.5")


class FlyballGovernor:
    """How far the shaft has turned, the angle of the rods below the horizontal, and the height of the slider.

    Nothing turns the shaft: its speed follows from the angular momentum. So the state is the turn, the other two
    coordinates, and their rates. Both rods, globes and couplers are counted by doubling.
    """

    transient = Decimal("0.01")  # s: the couplers settle at 8000/s

    def __init__(self):
        along, across = ROD * WIDTH**2 / 3, ROD * (1 + WIDTH**2) / 6  # both rods about their own axes
        slider = SLIDER * Decimal("0.01") / 6
        self.along, self.across = along, across
        self.fixed = SHAFT * WIDTH**2 / 6 + slider
        self.swing = 2 * GLOBE + ROD / 2 + across
        s, c = sin_cos(PI / 6)
        self.momentum = self.inertia(s, c) * 2 * PI

    def inertia(self, s, c):
        """About the shaft."""
        return (
            self.fixed
            + 2 * GLOBE * (RADIUS + c) ** 2
            + 2 * ROD * (RADIUS + c / 2) ** 2
            + self.along * s * s
            + self.across * c * c
        )

    def start_state(self):
        return [Decimal(0), PI / 6, Decimal("0.5"), Decimal(0), Decimal(0)]

    def slopes(self, t, y):
        _, angle, height, angle_rate, height_rate = y
        s, c = sin_cos(angle)
        turning = self.momentum / self.inertia(s, c)
        outward = -s * (
            2 * GLOBE * (RADIUS + c) + ROD * (RADIUS + c / 2) + (self.across - self.along) * c
        )  # half of the inertia's derivative
        # coupler: from the middle of the rod to the slider's arm, which both turn with the shaft
        x, z = -c / 2, height - 1 + s / 2
        reach = (x * x + z * z).sqrt()
        by_angle, by_height = (x * s + z * c) / (2 * reach), z / reach
        rate = by_angle * angle_rate + by_height * height_rate
        force = -STIFFNESS * (reach - UNSTRETCHED) - DAMPING * rate
        weight = (2 * GLOBE + ROD) * GRAVITY * c  # downwards turns the rods downwards
        return [
            turning,
            angle_rate,
            height_rate,
            (outward * turning**2 + weight + force * by_angle) / self.swing,
            force * by_height / SLIDER - GRAVITY,
        ]

    def row(self, t, y):
        """Coordinates of A, B and E."""
        turn, angle, height = y[:3]
        sp, cp = sin_cos(turn)
        s, c = sin_cos(angle)
        far, zero = RADIUS + c, Decimal(0)
        return [RADIUS * cp, RADIUS * sp, Decimal(1), far * cp, far * sp, 1 - s, zero, zero, height]
