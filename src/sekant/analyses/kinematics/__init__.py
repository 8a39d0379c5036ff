"""Kinematic analysis: `kinematics` and its result. `reachable` may return a result without points."""

from sekant.analyses.kinematics.limits import Limit
from sekant.analyses.kinematics.result import KinematicsResult
from sekant.analyses.kinematics.sweep import kinematics, reachable

__all__ = ["KinematicsResult", "Limit", "kinematics", "reachable"]
