"""Every code of an `AnalysisWarning`: its meaning and the remedy. Pages are generated from this table."""

from __future__ import annotations

from typing import NamedTuple


class WarningCode(NamedTuple):
    """`analyses`: where it may appear. `meaning`: the cause. `remedy`: the recommended action."""

    analyses: str
    meaning: str
    remedy: str


CODES: dict[str, WarningCode] = {
    # -- start of a motion
    "singular_start": WarningCode(
        "assemble, simulate, equilibrium",
        "The assembled position is singular: it has more degrees of freedom than the positions around it, so the "
        "motion may continue in several ways.",
        "Start elsewhere, on the branch that you want.",
    ),
    "start_contradicted": WarningCode(
        "assemble, simulate, equilibrium",
        "Sekant changed start values of the model, because its constraints contradict them. In mechanisms modeled "
        "with points and in bare Lagrangians, start values may be approximate. The warning appears only if a value "
        "changes by more than 1 % of the mechanism's extent, of a vector's length or of the largest given "
        "velocity, or, in a bare Lagrangian, by more than 1 % of the value itself.",
        "Correct the values, or leave out those that follow from the others.",
    ),
    "start_undetermined": WarningCode(
        "assemble, simulate, equilibrium",
        "A mechanism modeled with points, or a bare Lagrangian, starts with velocities that neither its start "
        "values nor its constraints determine. Sekant chose the values with the least kinetic energy, and the "
        "motion depends on them.",
        "Give these velocities, even if they are zero, or other velocities that determine them.",
    ),
    "angle_in_radians": WarningCode(
        "check, simulate",
        "An angle without a unit is larger than half a turn and a multiple of 0.5. Numbers without a unit are in "
        "radians, but this number may have been intended in degrees.",
        "Write the unit: `30 deg`.",
    ),
    # -- motion
    "energy_drift": WarningCode(
        "simulate",
        "The energy balance of a run with an adaptive method drifts by more than 1000 times `rtol`, relative to the "
        "energy in the system. The warning names the table or element where the balance changes most.",
        "Use a smoother law or table in this element, tighten `rtol`, or compare with another method.",
    ),
    "out_of_range": WarningCode(
        "simulate",
        "The motion left the range of a path, surface or table that has no continuation. The run ends "
        "early, with a status of the same name. The warning gives the value, the range and the time.",
        "Extend the data, keep the motion inside the range, or allow a continuation beyond it.",
    ),
    "breaks_crossed": WarningCode(
        "simulate",
        "Fixed steps crossed breaks of a table, at which its value or one of its derivatives jumps. This may have "
        "caused an error of 0.1 % of the motion or more. The warning lists the breaks.",
        "Use a shorter step, a smoother table, or an adaptive method, which stops at breaks.",
    ),
    "breaks_stepped_over": WarningCode(
        "simulate",
        "With the engine `casadi`, an independent check of the code, methods other than `taylor` cannot stop at "
        "breaks of tables and curves. Their steps cross the breaks, and the error there may exceed the tolerances.",
        "Use the default engine, or method `taylor`, which stops at breaks with any engine.",
    ),
    "chattering": WarningCode(
        "simulate",
        "A force law jumps at the current state and pushes the motion back to the jump from both sides. Adaptive "
        "methods stop there; with fixed steps, the motion alternates between both sides of the jump.",
        "Smooth the law, e.g. replace sign(v) with tanh(v / small), or use an element that can stick.",
    ),
    "delay_interpolation": WarningCode(
        "simulate",
        "The polynomials that store the input of a delay differ from the input by more than ten times `rtol`, "
        "relative to the largest value of the input.",
        "Increase `pieces` of the delay.",
    ),
    "half_turn": WarningCode(
        "simulate",
        "The two frames of a bushing or a torsion spring passed through a relative rotation of half a turn, or those "
        "of a bushing through a quarter turn about y. These elements measure only the poses of their frames, so "
        "their angles and torques jump there. Adaptive methods stop at the jump.",
        "To count turns, use a `rotational_spring_damper` on the joint.",
    ),
    "friction_regularized": WarningCode(
        "simulate",
        "The method does not stop at events. Dry friction therefore changes its sign gradually over the speed "
        "`width`, and a joint that should stick creeps.",
        "Use method `taylor` or `dop853`, which stick exactly, or a smaller `width`.",
    ),
    "friction_several": WarningCode(
        "simulate",
        "Several states of a contact or a joint with friction (open, sticking, sliding) are consistent with "
        "Coulomb's law and the reactions, so the motion is not unique. Sekant chose the state nearest to the "
        "previous one.",
        "Lower the coefficient of friction, or give the joint some compliance.",
    ),
    # -- rest, steady motion
    "contact_idle": WarningCode(
        "equilibrium",
        "A contact is closed but carries no force; the stability is computed with the contact closed.",
        "Change the start so that the contact is open or carries a force.",
    ),
    "friction_ignored": WarningCode(
        "equilibrium",
        "The equilibrium was found without the dry friction of a joint. With friction, the joint may rest anywhere "
        "in a range around this position.",
        "If the joint should stick, start from the final state of a simulation that ends at rest.",
    ),
    "friction_sticks": WarningCode(
        "linearize",
        "A joint is at rest and held by dry friction; the linear model treats it as locked.",
        "For motions large enough to make the joint slide, leave the friction out, or linearize about a "
        "state in which the joint slides.",
    ),
    "friction_exceeded": WarningCode(
        "equilibrium, linearize",
        "A joint that sticks in the given state would need more friction than its limit, so the state is not an "
        "equilibrium.",
        "Simulate the motion, and start from its final state.",
    ),
    "undetermined_unknown": WarningCode(
        "steady_motion",
        "The equations of the steady motion do not determine an unknown. It keeps the value at which the search "
        "started.",
        "Give a target for it, or remove it from the unknowns.",
    ),
    # -- small motions
    "frozen_motion": WarningCode(
        "linearize",
        "The linear equations hold at one instant of the motion. Their eigenvalues depend on the coordinates and on "
        "the formulation, and do not determine stability.",
        "To linearize about a steady motion, pass the result of `sk.analyses.steady_motion` without `at`. The "
        "axes then follow the motion, and all formulations give the same eigenvalues.",
    ),
    "kink": WarningCode(
        "linearize",
        "A force, such as that of a damper with different rates in bump and rebound, has a kink at the operating "
        "point. The slopes on the two sides differ, and the linear model uses one of these slopes or neither.",
        "Linearize on each side of the kink, or use a smooth table.",
    ),
    "repeated_eigenvalues": WarningCode(
        "sensitivity",
        "Several modes share an eigenvalue. Its derivatives are the slopes of its branches, and its eigenvectors "
        "have no derivatives.",
        "Differentiate a symmetric function of these modes, or look at one parameter at a time.",
    ),
    "close_eigenvalues": WarningCode(
        "sensitivity",
        "Several modes have nearly the same eigenvalue, so their eigenvectors change quickly.",
        "Use the derivatives only for parameter changes that shift the eigenvalues by much less than the distance "
        "between them.",
    ),
    "defective_eigenvalues": WarningCode(
        "sensitivity",
        "Several modes share an eigenvalue and an eigenvector, so the eigenvalue has no derivative.",
        "Change a parameter slightly, and differentiate at the new value.",
    ),
    # -- kinematics
    "range_not_reached": WarningCode(
        "kinematics, reduce, suspension curves",
        "The mechanism does not reach every requested value of the drive.",
        "Use the range that the message names, or drive another quantity.",
    ),
    "branches_meet": WarningCode(
        "kinematics, reduce, suspension curves",
        "Two assembly modes of the mechanism meet within the range, so the motion may continue on either branch.",
        "Check that the positions beyond the point where the modes meet are on the branch that you want.",
    ),
    "singular_points": WarningCode(
        "kinematics",
        "At some positions, the drive does not determine the motion. Derivatives are NaN there.",
        "Drive another quantity, or leave these positions out.",
    ),
    # -- suspensions
    "negative_motion_ratio": WarningCode(
        "suspension curves",
        "A spring extends in bump: the push rod, rocker or arm that drives it is past its dead point.",
        "Move the hard points of this part, or limit the travel.",
    ),
    "negative_wheel_rate": WarningCode(
        "suspension curves",
        "The load on a wheel decreases in bump.",
        "Check the stiffness and the preload of the spring. A stiffness without a unit is in N/m, whatever the unit "
        "of the points.",
    ),
    "spring_pressed_far": WarningCode(
        "suspension curves",
        "Stiffness and preload compress a spring to less than a quarter of its free length.",
        "Check the stiffness of the spring. Without a unit, it is in N/m, whatever the unit of the points: `37` is "
        "not `37 N/mm`.",
    ),
    "vehicle_mass_assumed": WarningCode(
        "loads on members",
        "A load case accelerates along x. The load transfer between the axles depends on the mass of the whole "
        "vehicle, which is not given. Sekant assumes that both axles carry the same load.",
        "Specify `vehicle_mass` under `suspension`.",
    ),
    # -- curves and fits
    "path_corner": WarningCode(
        "fit, tracks",
        "The path has a corner, where the velocity of a body that follows it jumps.",
        "Smooth the data, correct a direction, or insert an arc at the corner.",
    ),
    "curvature_jump": WarningCode(
        "fit, tracks",
        "The curvature of the path jumps, and so does the acceleration of a body that follows it.",
        "Insert a clothoid at the jump, or add points there.",
    ),
    "unit_speed": WarningCode(
        "fit",
        "The parameter is not the arc length everywhere: the path bends too sharply for the spacing of its points.",
        "Add points, give the noise, or use a column as the parameter.",
    ),
    "outliers": WarningCode(
        "fit",
        "Some rows lie far from the path that the other rows follow. The fit leaves them out, and the warning lists "
        "them.",
        "Correct or remove these rows.",
    ),
    "rows_reordered": WarningCode(
        "fit",
        "The order of the rows differs from their order along the path. The fit sorted them by their projections "
        "onto a first estimate of the path.",
        "Sort the rows; if their order is right, add a time column.",
    ),
    "orientation_unread": WarningCode(
        "fit",
        "The data have columns of angles that the fit does not use: the body keeps its orientation.",
        "Name the angles and the order of their axes, or write `orientation: none`.",
    ),
    "order_uncertain": WarningCode(
        "fit",
        "Where the path bends, the points are too far apart to determine their order: with one of the rows in "
        "another position, the path would be about as smooth. The fit uses the order that it found.",
        "Add points there, or add a time column, which determines the order.",
    ),
    "fit_residual": WarningCode(
        "fit",
        "The residual of the fit is well above the noise estimate. The path or surface may have details that are "
        "finer than the spacing of the knots.",
        "Add points, give the noise, or fit a spline instead of a polynomial.",
    ),
    "surface_open": WarningCode(
        "fit",
        "Part of the rectangle of the two parameters has few points or none. The standard deviation of a "
        "component of the surface there exceeds a tenth of the component's range. If the deviation exceeds half of "
        "the range, the fit fails, unless `allow_gaps` is set.",
        "Add points there, fit over a smaller range, or keep the motion away from this region.",
    ),
    "surface_degenerate": WarningCode(
        "fit",
        "At some points, the two coordinates of a surface move the body in the same way, so a joint loses a degree "
        "of freedom there.",
        "Keep the motion away from this region, or choose other coordinates.",
    ),
    # -- cars
    "compliance_left_out": WarningCode(
        "kc, drive",
        "The measured compliance of a steered wheel has more directions than a surface joint has elastic modes. "
        "The stiffest direction is treated as rigid.",
        "Compare the compliance rates that `sekant kc` prints with the measured rates. To keep five directions, give "
        "curves at only one position of the rack.",
    ),
    # -- tire property files
    "tire_keys": WarningCode(
        "tire files",
        "A tire property file has keys that Sekant does not use.",
        "Check the spelling of these keys.",
    ),
    "tire_tables": WarningCode(
        "tire files",
        "A tire property file has tables that Sekant does not use.",
        "No action is needed on a flat road.",
    ),
    "tire_scale": WarningCode(
        "tire files",
        "A scale factor of the friction is zero, so the tire has no friction.",
        "Set the factor to 1.",
    ),
}
