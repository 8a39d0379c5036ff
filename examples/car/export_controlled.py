"""Export of a reduced car with a digital controller, as an FMU of a car that drives itself.

Every 10 ms the controller samples speed and yaw rate. It controls the speed with the drive torque, and the yaw rate
with the steering wheel. The importing program sets the target yaw rate.

python examples/car/export_controlled.py [file.fmu]
"""

import sys
from pathlib import Path

import sekant as sk
from sekant.vehicle.car import Commands, car_model, load_car

PERIOD, SPEED, RATIO = 0.01, 20.0, 2.2


def controlled_car(yaw_rate_target: float = 0.0) -> sk.Model:
    """The hatchback at 72 km/h with its controller; an export turns `yaw_rate_target` (rad/s) into an input."""
    commands = Commands(
        torque="torque_demand",
        steer="steer_demand",
        signals={
            "torque_demand": sk.signals.Sampled(input=f"900*({SPEED} - speed)", period=PERIOD, unit="N*m"),
            "error_sum": sk.signals.Sampled(
                input=f"error_sum + {PERIOD}*(yaw_rate_target - yaw_rate)", period=PERIOD, unit="rad"
            ),
            "steer_demand": sk.signals.Sampled(
                input=f"{RATIO}*yaw_rate_target + 1.2*error_sum", period=PERIOD, unit="rad"
            ),
        },
        parameters={"yaw_rate_target": yaw_rate_target},
    )
    return car_model(load_car(Path(__file__).with_name("hatchback.yaml")), commands, speed=SPEED)


def main(path: Path) -> None:
    outputs = ["speed", "yaw_rate", "sideslip", "torque_demand", "steer_demand", "position", "*.tire.load"]
    report = sk.export.fmu(
        controlled_car(),
        path,
        kind="cs",
        method="rk4",
        step=1e-3,
        outputs=outputs,
        inputs=["yaw_rate_target"],
        parameters=["yaw_rate_target"],
    )
    print(report.summary())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "controlled_car.fmu"))
