"""Courses: open or closed lines on the road that a driver follows, and their speed profiles."""

from sekant.vehicle.courses.course import Course, course_of_pieces, course_through
from sekant.vehicle.courses.speed_profile import SpeedProfile, speed_profile
from sekant.vehicle.courses.track_files import read_track

__all__ = ["Course", "SpeedProfile", "course_of_pieces", "course_through", "read_track", "speed_profile"]
