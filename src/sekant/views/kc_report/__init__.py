"""The report on axles: one HTML page with player, curves that respond to the mouse, tables and the glossary."""

from sekant.views.kc_report.report import write_report

__all__ = ["write_report"]
