"""The quantities of suspensions: name, symbol, unit, sign and definition, after ISO 8855 where it defines them.

Columns of results, reports and pages use these names and definitions. Both wheels of an axle have the quantities of
a corner under ``left.`` and ``right.``. s is 1 on the left and -1 on the right, e the unit vector of the spin axis
(to the left), c the contact point, which is the lowest point of a thin disc of the wheel's radius, k the upward unit
vector of the steering axis.
"""

from __future__ import annotations

from dataclasses import dataclass

_TEXT = """
travel | z | m | the wheel rises | height of the wheel center above its initial position | suspension travel
rack | y_R | m | to the left | displacement of the steering rack |
steering_wheel | delta_H | rad | turned to the left | 2 pi rack / rack_per_turn | steering-wheel angle
camber | epsilon_V | rad | the top leans outward | asin(-s e_z) | camber angle
toe | delta_V | rad | toe-in | -s times the steer angle | toe angle
steer_angle | delta | rad | turned to the left | atan2(-e_x, e_y) | steer angle
caster | tau | rad | the top of the axis leans rearward | atan2(-k_x, k_z) | castor angle
kingpin_inclination | sigma | rad | the top of the axis leans inward | atan2(-s k_y, k_z) | steering-axis inclination
scrub_radius | r_S | m | the axis meets the road inboard | distance across the wheel from c to the point where the
  axis meets the road | steering-axis offset at ground
mechanical_trail | n_K | m | the axis meets the road ahead of c | distance along the wheel from c to the point
  where the axis meets the road | castor offset at ground
track_change | Delta b/2 | m | the wheel moves outward | s times the change of c_y, for one side |
track | b | m | always | distance between the contact points across the vehicle | track
wheelbase_change | Delta l | m | the wheelbase grows | change of c_x, with the opposite sign on a rear axle |
roll_center_height | h_RC | m | above the road | of a corner, c_y dc_y/dc_z: height at which the line
  through c, perpendicular to the path of c, meets the center plane; of an axle: height at which the lines of the
  two sides meet, measured from the line between the contact points; the path is that of c while one wheel
  rises and the other falls by the same amount | roll-centre height
road_angle | phi_R | rad | the left wheel is higher | angle from the vehicle's y axis to the road plane,
  which is parallel to x and touches both wheels; in roll, minus the body's roll angle relative to the road |
camber_to_road | epsilon_W | rad | the top leans outward | asin(-s e.n) with n the normal of the road plane |
  inclination angle
track_on_road | b_R | m | always | distance between the contact points on the road plane |
scrub_radius_on_road | r_SR | m | the axis meets the road inboard | scrub radius on the road plane |
mechanical_trail_on_road | n_KR | m | the axis meets the road ahead of c | mechanical trail on the road plane |
wheel_rate_on_road | c_RR | N/m | the load grows in bump | derivative of the load normal to the road plane with
  respect to the displacement of the contact toward this plane, with the other wheel held |
roll_stiffness_on_road | c_phiR | N*m/rad | always | derivative of the moment of the loads normal to the
  road plane, about the middle of the track, with respect to the angle between body and road |
roll_center_y | y_RC | m | to the left | y coordinate of the roll center of an axle |
spring_length | l_F | m | always | distance between the spring's ends |
motion_ratio | i_F | 1 | the spring is compressed in bump | -d(spring length)/d(travel) |
damper_length | l_D | m | always | distance between the damper's ends |
damper_motion_ratio | i_D | 1 | the damper is compressed in bump | -d(damper length)/d(travel) |
wheel_rate | c_R | N/m | the load grows in bump | d/d(travel) of the load that springs and stops carry at the
  wheel, with the other wheel held; for one linear spring with stiffness k and force F, k i_F^2 + F d(i_F)/d(travel) |
  suspension ride rate
spring_load | F_F | N | springs push the wheel down | vertical force that the springs carry at the wheel center |
ride_rate | c_Z | N/m | the load grows in bump | wheel rate of one wheel while both wheels rise together |
roll_stiffness | c_phi | N*m/rad | it resists roll | moment of the springs and the anti-roll bar divided by the
  roll angle about the wheel centers | suspension roll stiffness
camber_gradient | epsilon_V' | rad/m | camber grows in bump | d(camber)/d(travel) |
toe_gradient | delta_V' | rad/m | toe-in grows in bump | d(toe)/d(travel) | bump steer
front_view_center_y | y_Q | m | to the left | y coordinate of the instant center in the front view, in the
  plane through the wheel center |
front_view_center_z | z_Q | m | up | z coordinate of that instant center |
front_view_swing_arm | q | m | the center lies inboard | distance across the vehicle from c to the instant center |
side_view_center_x | x_L | m | forward | x coordinate of the instant center in the side view, in the plane
  through the wheel center |
side_view_center_z | z_L | m | up | z coordinate of that instant center |
side_view_swing_arm | p | m | the center lies between the axles | distance along the vehicle from c to the
  instant center |
braking_support_angle | epsilon_B | rad | it supports the vehicle | atan of dx/dz of the contact point of a
  wheel locked to the upright; opposite sign on a rear axle |
driving_support_angle | epsilon_A | rad | it supports the vehicle | atan of dx/dz of the wheel center
  (shafts carry the drive torque); opposite sign on a rear axle |
anti_dive | X_BF | 1 | it supports the vehicle | of the front axle: fraction of the load transfer in braking that
  bypasses the spring |
anti_lift | X_L | 1 | it supports the vehicle | fraction of the load transfer that bypasses the spring:
  braking at the rear, driving at the front |
anti_squat | X_AR | 1 | it supports the vehicle | of the rear axle: fraction of the load transfer in driving that
  bypasses the spring |
rocker_angle | phi_U | rad | its hinge angle increases | rotation of the rocker from its initial position |
bar_twist | phi_S | rad | its joint angle increases | twist of the anti-roll bar |
ackermann_error | Delta delta_A | rad | the inner wheel is turned too far | steer angle of the inner wheel
  minus the ideal angle, at which both wheels roll about one point |
ackermann_share | A | 1 | toe-out in a turn | difference between the steer angles divided by the difference
  for ideal Ackermann steering |
jacking | Delta z_J | m | the vehicle rises | displacement of the contact point of one side relative to the
  vehicle as the wheels are steered, while the springs keep their lengths |
turning_circle | D_S | m | always | 2 wheelbase / sin of the outer steer angle: diameter of the outer wheel's
  path | turning circle
"""


@dataclass(frozen=True)
class Term:
    """A quantity. `unit` is its SI unit in columns of results, `positive` says when it is positive, and `standard` is
    its name in ISO 8855."""

    name: str
    symbol: str
    unit: str
    positive: str
    definition: str
    standard: str = ""


def _terms() -> dict[str, Term]:
    rows = _TEXT.strip().replace("\n  ", " ").splitlines()
    terms = [Term(*(part.strip() for part in row.split("|"))) for row in rows]
    return {term.name: term for term in terms}


GLOSSARY = _terms()
"""Every quantity by its name in columns, without the side."""


def term_of(column: str) -> Term | None:
    """The entry of a column such as ``left.camber``."""
    return GLOSSARY.get(column.rpartition(".")[2])


def table() -> str:
    """The glossary as a table for pages."""
    lines = ["| name | symbol | unit | definition | positive if | ISO 8855 |", "|---|---|---|---|---|---|"]
    for term in GLOSSARY.values():
        cells = (f"`{term.name}`", term.symbol, term.unit, term.definition, term.positive, term.standard)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
