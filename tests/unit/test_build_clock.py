"""The time that building takes belongs to the system that is built, and to no other."""

import sekant as sk


def pendulum(mass):
    return sk.Model(
        bodies={"rod": sk.Body(mass=mass, com=(0.4, 0.0, 0.0), inertia=(0.3, 0.7, 0.9))},
        joints={"hinge": sk.joints.Revolute(child="rod", axis=(0.0, 1.0, 0.0))},
    )


def test_each_system_counts_its_own():
    one, other = (sk.compile(pendulum(mass), cache=False) for mass in (1.3, 1.7))
    before = other.building.seconds
    one.once("work", lambda: one.once("inner", lambda: sum(range(100_000))))
    assert one.building.seconds > 0.0
    assert other.building.seconds == before


def test_a_system_made_of_another_counts_for_it():
    system = sk.compile(pendulum(1.9), cache=False)
    assert system.with_expressions().building is system.building
