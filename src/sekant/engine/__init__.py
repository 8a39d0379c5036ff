"""Engine: equations to native functions."""

from sekant.engine.state import State
from sekant.engine.system import System, compile

__all__ = ["State", "System", "compile"]
