"""Python functions of numbers as C callbacks: the permitted contents of their text, and their compilation by numba.

A text contains only function definitions; the last one is the signal's function. Python runs none of it:
numba compiles it for numbers alone. Models from untrusted sources must not be able to do harm. Therefore a
text may use only the parts of `np`, `math` and arrays that are listed here (numba would also compile
functions that reach any memory, such as `as_strided`), and its indices are checked. It may still run forever.
A function given as an object is the user's own program.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from sekant.errors import ModelError

_IMPORTS = {("numpy", "np"), ("math", None)}
_OF_MODULES = """
    pi e inf nan sin cos tan asin acos atan atan2 arcsin arccos arctan arctan2 sinh cosh tanh asinh acosh atanh
    arcsinh arccosh arctanh exp expm1 exp2 log log1p log2 log10 sqrt cbrt hypot abs fabs sign copysign floor ceil
    trunc round rint fmod mod remainder degrees radians deg2rad rad2deg erf erfc gamma lgamma pow power square
    minimum maximum fmin fmax clip where heaviside isnan isinf isfinite array zeros ones empty full zeros_like
    ones_like eye linspace arange interp sum prod min max mean dot cross outer linalg float64 int64 any all argmin
    argmax searchsorted diff cumsum
"""
_OF_ARRAYS = "shape size ndim T copy sum prod min max mean dot any all argmin argmax"
_OF_LINALG = "norm solve inv det"
_ENTRY = """
def entry(x, y):
    try:
        found = law({arguments})
{stores}
    except Exception:
{fails}
"""


def parameters_of(function: str | Callable[..., Any]) -> tuple[str, ...]:
    """Names of the parameters of a function, or of the last function in a text; raises `ValueError`."""
    if isinstance(function, str):
        arguments = _definitions(function)[-1].args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            raise ValueError("the parameters of the function must not contain '*'")
        return tuple(names)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ValueError(
            f"the parameters of {function!r} are unknown; use a function defined with 'def'"
        ) from None
    if any(one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters):
        raise ValueError("the parameters of the function must not contain '*'")
    return tuple(one.name for one in parameters)


def _definitions(text: str) -> list[ast.FunctionDef]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        what = getattr(error, "msg", None) or str(error)
        raise ValueError(
            f"the function is not valid Python{f', line {line}' if line else ''}: {what}; write, for "
            "example, 'def law(x, v): return -3*x'"
        ) from None
    found = []
    for part in body:
        if isinstance(part, ast.Import) and all((n.name, n.asname) in _IMPORTS for n in part.names):
            continue
        if isinstance(part, ast.FunctionDef) and not part.decorator_list and _plain_defaults(part):
            found.append(part)
            continue
        raise ValueError(
            f"line {part.lineno} of the function: the text may contain only functions ('def') without "
            "decorators, and imports of NumPy (as np) and math"
        )
    for part in found:
        _harmless(part)
    if not found:
        raise ValueError("the text defines no function; write, for example, 'def law(x, v): return -3*x'")
    return found


def _harmless(part: ast.FunctionDef) -> None:
    """Refuse everything that is not listed: attributes, imports and names with two underscores."""
    for node in ast.walk(part):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.With | ast.ClassDef | ast.Lambda):
            what = f"'{type(node).__name__.lower()}'"
        elif isinstance(node, ast.Name) and node.id.startswith("__"):
            what = f"'{node.id}'"
        elif isinstance(node, ast.Attribute) and not _listed(node):
            what = f"'{ast.unparse(node)}'"
        else:
            continue
        raise ValueError(
            f"line {getattr(node, 'lineno', part.lineno)} of the function: {what} is not allowed in a "
            "function from a file; use arithmetic, 'if', loops and the functions of np and math, or pass "
            "the function in Python"
        )


def _listed(node: ast.Attribute) -> bool:
    inside = node.value
    if isinstance(inside, ast.Attribute) and ast.unparse(inside) == "np.linalg":
        return node.attr in _OF_LINALG.split()
    if isinstance(inside, ast.Name) and inside.id in ("np", "math"):
        return node.attr in _OF_MODULES.split()
    return node.attr in _OF_ARRAYS.split()


def _plain_defaults(part: ast.FunctionDef) -> bool:
    defaults = [*part.args.defaults, *(d for d in part.args.kw_defaults if d is not None)]
    return all(isinstance(d, ast.Constant) for d in defaults)


@cache
def compiled(function: str | Callable[..., Any], name: str, inputs: int, outputs: int) -> Any:
    """An object whose `address` is that of ``void f(const double *x, double *y)``; kept as long as the process.

    Exceptions in the function make its values NaN. `name`: of the signal, for messages.
    """
    try:
        from numba import carray, cfunc, njit, types  # pyright: ignore[reportPrivateImportUsage]
        from numba.core.errors import NumbaError
    except ImportError:
        raise ModelError(
            "a numeric function requires numba; install it with: pip install 'sekant[numeric]', or record the "
            "function (sk.signals.traced)",
            path=("signals", name, "function"),
        ) from None
    jit = njit(error_model="numpy", boundscheck=True)
    law = _loaded(function, name, jit) if isinstance(function, str) else jit(function)
    shown = ", ".join(f"at[{i}]" for i in range(inputs))
    one = outputs == 1
    stores = "".join(f"        to[{k}] = 0.0 + {'found' if one else f'found[{k}]'}\n" for k in range(outputs))
    fails = "".join(f"        to[{k}] = nan\n" for k in range(outputs))
    text = _ENTRY.format(arguments=shown, stores=stores.rstrip("\n"), fails=fails.rstrip("\n"))
    text = text.replace(
        "    try:\n", f"    at, to = carray(x, {inputs}), carray(y, {outputs})\n    try:\n", 1
    )
    space: dict[str, Any] = {"law": law, "carray": carray, "nan": math.nan}
    exec(compile(text, f"<entry of signal '{name}'>", "exec"), space)
    numbers = types.CPointer(types.float64)
    try:
        return cfunc(types.void(numbers, numbers), error_model="numpy")(space["entry"])
    except (NumbaError, TypeError, ValueError, NotImplementedError) as error:
        raise ModelError(
            f"the function cannot be compiled for plain numbers: {_cause(error)}; use arithmetic, 'if', "
            f"loops, np and math, and return {'a number' if one else f'{outputs} numbers'}",
            path=("signals", name, "function"),
        ) from None


def _loaded(text: str, name: str, jit: Callable[..., Any]) -> Callable[..., Any]:
    """The last function of a text. Only its `def` statements are executed; their defaults are constants."""
    definitions = _definitions(text)
    tree = ast.Module([*definitions], [])
    file = f"<function of signal '{name}'>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    flags = __import__("__future__").annotations.compiler_flag
    space: dict[str, Any] = {"np": np, "math": math, "__name__": "sekant.numeric"}
    exec(compile(tree, file, "exec", flags=flags, dont_inherit=True), space)
    for one in definitions:  # they call one another in compiled form
        space[one.name] = jit(space[one.name])
    return space[definitions[-1].name]


def _cause(error: Exception) -> str:
    """The line of numba's message with the fault and its place."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [
        line
        for line in lines
        if not line.startswith(("Failed in", "During:", "File", "def ", "^", "<source", "Overload", "- "))
    ]
    place = next((line for line in lines if line.startswith("File") and "function of signal" in line), "")
    where = place.rpartition("line ")[2].rstrip(":") if "line " in place else ""
    return " ".join([(told or lines)[0].rstrip(".:"), f"(line {where})" if where else ""]).strip()
