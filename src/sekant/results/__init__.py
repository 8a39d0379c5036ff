"""Results: named time series with units, status, statistics and provenance, in memory and in files."""

from sekant.results.channels import Channel, Channels, UnknownChannelError
from sekant.results.result import Result
from sekant.results.writer import ResultWriter

__all__ = [
    "Channel",
    "Channels",
    "Result",
    "ResultWriter",
    "UnknownChannelError",
]
