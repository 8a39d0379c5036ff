"""Engine: equations to native functions."""

from sekant.engine.system import State, System, compile

__all__ = ["State", "System", "compile"]
