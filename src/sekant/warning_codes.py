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
        "The assembled position is singular: it has more degrees of freedom than its neighbors, so the motion may "
        "continue in several ways.",
        "Start elsewhere, on the branch that you want.",
    ),
    "start_contradicted": WarningCode(
        "assemble, simulate, equilibrium",
        "Sekant changed start values of the model, because its constraints contradict them. In "
        "mechanisms of points and in bare Lagrangians start values may be rough: only changes by "
        "more than 1 % of the mechanism's "
        "extent, of a vector's length or of the largest stated velocity count (of a bare Lagrangian: of the value).",
        "Correct the values, or leave out those that follow from the others.",
    ),
    "start_undetermined": WarningCode(
        "assemble, simulate, equilibrium",
        "A mechanism modeled with points, or a bare Lagrangian, starts with velocities that neither its start "
        "values nor its constraints determine. Sekant chose the values of least kinetic energy, and the motion "
        "depends on them.",
        "Give these velocities, or others that determine them; a given zero counts, too.",
    ),
    "angle_in_radians": WarningCode(
        "check, simulate",
        "An angle without a unit is a whole or half number beyond half a turn. Numbers without a unit are in "
        "radians; perhaps they are degrees.",
        "Write the unit: `30 deg`.",
    ),
    # -- motion
    "energy_drift": WarningCode(
        "simulate",
        "The energy balance of an adaptive run drifts by more than a thousand times `rtol` of the energy in the "
        "system; the item is the table or element where it changes most.",
        "Give the element a smoother law or table, tighten `rtol`, or compare with another method.",
    ),
    "out_of_range": WarningCode(
        "simulate",
        "The motion left the range of a path, surface or table that has no continuation. The run ends "
        "early, with a status of the same name. The cause gives the value and the range; the place gives "
        "the time.",
        "Lengthen the data, keep the motion inside, or allow a continuation.",
    ),
    "breaks_crossed": WarningCode(
        "simulate",
        "Fixed steps crossed breaks of a table, which may have cost a thousandth of the motion or more; the place "
        "lists the breaks.",
        "Use an adaptive method, which stops at breaks, a shorter step, or a smoother table.",
    ),
    "breaks_stepped_over": WarningCode(
        "simulate",
        "The engine `casadi`, an independent check of the code, cannot stop at breaks of tables and curves: "
        "its steps cross them, and the tolerances are not met there.",
        "Use the default engine, or method `taylor`, which stops at breaks with any engine.",
    ),
    "chattering": WarningCode(
        "simulate",
        "A law jumps at the current state and pushes the motion back from both sides. Adaptive methods end there; "
        "fixed steps "
        "alternate between both sides of the jump.",
        "Smooth the law, e.g. tanh(v / small) for sign(v), or use an element that sticks.",
    ),
    "delay_interpolation": WarningCode(
        "simulate",
        "The polynomials that store the input of a delay differ from it by more than ten times `rtol` of its largest "
        "value.",
        "Raise `pieces` of the delay.",
    ),
    "half_turn": WarningCode(
        "simulate",
        "A bushing, or a torsion spring between two frames, turned by half a turn (a bushing: by a quarter "
        "turn about y). It measures only the pose of its frames, so its angles and its torque jump there. "
        "Adaptive methods stop at the jump.",
        "To count turns, use a `rotational_spring_damper` on the joint.",
    ),
    "friction_regularized": WarningCode(
        "simulate",
        "The method does not stop at events: dry friction changes its sign gradually over a stated width, "
        "and a joint that should stick creeps.",
        "Use method `taylor` or `dop853`, which stick exactly, or a smaller `width`.",
    ),
    "friction_several": WarningCode(
        "simulate",
        "More than one of open, sticking and sliding is consistent with Coulomb's law and the "
        "reactions: the motion is "
        "not unique. Sekant chose the state nearest to the previous one.",
        "Lower the coefficient of friction, or give the joint some compliance.",
    ),
    # -- rest, steady motion
    "contact_idle": WarningCode(
        "equilibrium",
        "A contact touches without carrying a force; the stability is computed with the contact closed.",
        "Move the start so that the contact is open or carries a force.",
    ),
    "friction_ignored": WarningCode(
        "equilibrium",
        "The position found needs no dry friction in a joint; with friction, the joint could rest anywhere "
        "in a range around it.",
        "For a joint that sticks, start from the final state of a simulation that ends at rest.",
    ),
    "friction_sticks": WarningCode(
        "linearize",
        "A joint is at rest and held by dry friction; the linear model treats it as locked.",
        "For motions large enough to make it slide, leave the friction out, or linearize about a "
        "state in which it slides.",
    ),
    "friction_exceeded": WarningCode(
        "equilibrium, linearize",
        "A joint that sticks in the given state would have to carry more than its limit: this is not an equilibrium.",
        "Simulate, and start from the end of the motion.",
    ),
    "undetermined_unknown": WarningCode(
        "steady_motion",
        "The equations of the steady motion leave an unknown free. It keeps the value at which the search started.",
        "Give a target for it, or remove it from the unknowns.",
    ),
    # -- small motions
    "frozen_motion": WarningCode(
        "linearize",
        "The linear equations hold at one instant of the motion: their eigenvalues depend on the "
        "coordinates and on the formulation, and do not determine stability.",
        "About a steady motion, pass the result of `sk.analyses.steady_motion`, without `at`: in axes that move with "
        "it, eigenvalues are the same in all formulations.",
    ),
    "kink": WarningCode(
        "linearize",
        "A force has a kink at the operating point, such as a damper whose bump and rebound differ: its slopes on "
        "the two sides differ, and the linear model has one of them, or neither.",
        "Linearize beside the kink, on each side, or give the law a smooth table.",
    ),
    "repeated_eigenvalues": WarningCode(
        "sensitivity",
        "Modes share an eigenvalue: its derivatives are the slopes of its branches, and its eigenvectors have no "
        "derivatives.",
        "Differentiate a symmetric function of these modes, or look at one parameter at a time.",
    ),
    "close_eigenvalues": WarningCode(
        "sensitivity",
        "Modes have nearly the same eigenvalue, so their eigenvectors change quickly.",
        "Use the derivatives only for changes much smaller than the distance between the eigenvalues.",
    ),
    "defective_eigenvalues": WarningCode(
        "sensitivity",
        "Modes share an eigenvalue and an eigenvector: it has no derivative there.",
        "Change a parameter a little and differentiate there.",
    ),
    # -- kinematics
    "range_not_reached": WarningCode(
        "kinematics, reduce, suspension curves",
        "The mechanism does not reach every requested value of the drive.",
        "Use the range that the message names, or drive another quantity.",
    ),
    "branches_meet": WarningCode(
        "kinematics, reduce, suspension curves",
        "Two assembly modes of the mechanism meet within the range, so it may continue in either.",
        "Check that the positions beyond are on the branch that you want.",
    ),
    "singular_points": WarningCode(
        "kinematics",
        "Positions at which the drive does not determine the motion: derivatives are NaN there.",
        "Drive another quantity, or leave these positions out.",
    ),
    # -- suspensions
    "negative_motion_ratio": WarningCode(
        "suspension curves",
        "A spring extends in bump: the push rod, rocker or arm that drives it is past its dead point.",
        "Move their points, or limit the travel.",
    ),
    "negative_wheel_rate": WarningCode(
        "suspension curves",
        "The load of a wheel decreases in bump.",
        "Check stiffness and preload of the spring. A stiffness without a unit is in N/m, whatever the unit of "
        "the points.",
    ),
    "spring_pressed_far": WarningCode(
        "suspension curves",
        "Stiffness and preload compress a spring to less than a quarter of its free length.",
        "Check its stiffness. Without a unit it is in N/m, whatever the unit of the points: `37` is not `37 N/mm`.",
    ),
    "vehicle_mass_assumed": WarningCode(
        "loads on members",
        "A load case accelerates along x: the load transfer between the axles depends on the mass of the whole "
        "vehicle, which is not given. Sekant assumes that both axles carry the same load.",
        "Give `vehicle_mass` of the suspension.",
    ),
    # -- curves and fits
    "path_corner": WarningCode(
        "fit, tracks",
        "The path has a corner, where the velocity of a body that follows it jumps.",
        "Smooth the data, correct a direction, or put an arc there.",
    ),
    "curvature_jump": WarningCode(
        "fit, tracks",
        "The curvature jumps, and so does the acceleration of a body that follows the path.",
        "Put a clothoid there, or give more points.",
    ),
    "unit_speed": WarningCode(
        "fit",
        "The parameter is not the arc length everywhere: the path bends too sharply for the spacing of its points.",
        "Give more points, state the noise, or fit over a column.",
    ),
    "outliers": WarningCode(
        "fit",
        "Rows lie far off the path that the others follow. They were left out; the place lists them.",
        "Correct or remove them.",
    ),
    "rows_reordered": WarningCode(
        "fit",
        "The order of the rows differs from their order along the path. They were ordered "
        "by their projection on a first estimate of the path.",
        "Sort the rows; if their order is right, add a time column.",
    ),
    "orientation_unread": WarningCode(
        "fit",
        "The data have columns of angles that the fit does not use: the body keeps its orientation.",
        "Name the angles and the order of their axes, or write `orientation: none`.",
    ),
    "order_uncertain": WarningCode(
        "fit",
        "Points lie so far apart where the path bends that they do not determine their order: with one of "
        "the rows elsewhere, the path would be about as smooth. The fit goes through the rows in the order "
        "that was found.",
        "Give more points there, or add a time column, which fixes the order.",
    ),
    "fit_residual": WarningCode(
        "fit",
        "The residual is well above the noise estimate.",
        "The path or surface may have detail that the knots did not reach: give more points, or state the noise; fit "
        "a spline instead of a polynomial.",
    ),
    "surface_open": WarningCode(
        "fit",
        "Part of the rectangle of the two parameters has so few points, or none at all, that a "
        "component of a surface is uncertain there by more than a tenth of its range (standard "
        "deviation). The fit is refused if this is more than half of it, unless the fit allows gaps.",
        "Add points there, fit over a smaller range, or keep the motion away from it.",
    ),
    "surface_degenerate": WarningCode(
        "fit",
        "The two coordinates of a surface move the body in the same way: a joint loses a degree of freedom there.",
        "Keep away from that place, or choose other coordinates.",
    ),
    # -- tire property files
    "compliance_left_out": WarningCode(
        "kc, drive",
        "The measured compliance of a steered wheel has more directions than its surface has elastic modes. "
        "The stiffest one is treated as rigid.",
        "Compare with `sekant kc`; fix the rack to keep five directions.",
    ),
    "tire_keys": WarningCode(
        "tire files",
        "A tire property file has keys that are not used.",
        "Check their spelling.",
    ),
    "tire_tables": WarningCode(
        "tire files",
        "A tire property file has tables that are not used.",
        "A flat road does not require them.",
    ),
    "tire_scale": WarningCode(
        "tire files",
        "A scale of the friction is zero: the tire has no friction.",
        "Set it to 1.",
    ),
}
