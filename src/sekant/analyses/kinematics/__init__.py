"""Kinematic analysis: `kinematics` and its result."""

from sekant.analyses.kinematics.limits import Limit
from sekant.analyses.kinematics.result import KinematicsResult
from sekant.analyses.kinematics.sweep import kinematics

__all__ = ["KinematicsResult", "Limit", "kinematics"]
