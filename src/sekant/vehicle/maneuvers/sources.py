"""Sources of maneuvers and measures, by the short names with which maneuvers cite them.

The standards are not freely available. Dimensions and definitions are therefore those given in the books and papers
listed here.
"""

from __future__ import annotations

from collections.abc import Mapping

SOURCES: Mapping[str, str] = {
    "HALL": "A. Hall, Formulation of a Path-Following Joint for Multibody System Dynamics, PhD thesis, University of "
    "Waterloo, 2015",
    "ISO 2631-1": "ISO 2631-1:1997, Mechanical vibration and shock - Evaluation of human exposure to whole-body "
    "vibration - Part 1: General requirements",
    "ISO 3888-1": "ISO 3888-1:2018, Passenger cars - Test track for a severe lane-change manoeuvre - Part 1: Double "
    "lane-change",
    "ISO 3888-2": "ISO 3888-2:2011, Passenger cars - Test track for a severe lane-change manoeuvre - Part 2: "
    "Obstacle avoidance",
    "ISO 4138": "ISO 4138:2021, Passenger cars - Steady-state circular driving behaviour - Open-loop test methods",
    "ISO 7401": "ISO 7401:2011, Road vehicles - Lateral transient response test methods - Open-loop test methods",
    "ISO 7975": "ISO 7975:2019, Passenger cars - Braking in a turn - Open-loop test method",
    "ISO 8608": "ISO 8608:2016, Mechanical vibration - Road surface profiles - Reporting of measured data",
    "ISO 8855": "ISO 8855:2011, Road vehicles - Vehicle dynamics and road-holding ability - Vocabulary",
    "ISO 21994": "ISO 21994:2007, Passenger cars - Stopping distance at straight-line braking with ABS - Open-loop "
    "test method",
    "FSG": "Formula Student Germany, Formula Student Rules 2024, part D: Dynamic Events",
    "FMVSS 126": "49 CFR 571.126, Standard No. 126: Electronic stability control systems for light vehicles",
    "Gillespie": "T. D. Gillespie, Fundamentals of Vehicle Dynamics, SAE International, 1992",
    "Milliken": "W. F. Milliken, D. L. Milliken, Race Car Vehicle Dynamics, SAE International, 1995",
    "Rill": "G. Rill, Road Vehicle Dynamics: Fundamentals and Modeling, CRC Press, 2011",
    "Zuo": "L. Zuo, S. A. Nayfeh, Low order continuous-time filters for approximation of the ISO 2631-1 human "
    "vibration sensitivity weightings, Journal of Sound and Vibration 265 (2003)",
}
