"""A Python function, for arguments of given kinds, is translated to a function of LLVM.

Every name of the function is a variable in its stack frame; LLVM's first pass converts these to registers.
The kind of a name covers all its values; it is found by repeated passes over the text until nothing changes.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from sekant.loops.declare.procedures import Inner, Primitive, Procedure
from sekant.loops.translate.instructions import INTRINSICS, LIBRARY, Instructions
from sekant.loops.translate.kinds import (
    COMPLEX,
    FUNCTION,
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    ArrayKind,
    Kind,
    NotTranslated,
    Placed,
    SeveralKind,
    StructKind,
    Value,
    array_of,
    constant,
    definition_of,
    is_number,
    join,
    kind_of_field,
    several,
)

if TYPE_CHECKING:
    from sekant.loops.translate.module import ModuleText

_ABSENT = object()
_NUMBER = (bool, int, float, complex, np.number, np.bool_)


class FunctionText:
    """`returned`: the kind of its result; `calls`: the symbols of helpers that it calls."""

    def __init__(self, module: ModuleText, function: FunctionType, symbol: str, kinds: Sequence[Kind]):
        self._module, self._function, self.symbol, self._given = module, function, symbol, tuple(kinds)
        self._tree = definition_of(function)
        names = [argument.arg for argument in self._tree.args.args]
        if len(names) != len(kinds):
            raise NotTranslated(f"{function.__name__} takes {len(names)} arguments (got {len(kinds)})")
        self._names = names
        self._local = set(names) | {
            node.id
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self._kinds: dict[str, Kind] = dict(zip(names, kinds, strict=True))
        self.returned: Kind = NOTHING
        self._returns = False
        while not self._pass():
            pass

    def _pass(self) -> bool:
        """Write the whole text; returns whether no kind has changed."""
        before = dict(self._kinds), self.returned
        self._do, self.calls = Instructions(), set[str]()
        self._places: dict[str, tuple[Kind, list[str]]] = {}
        self._loops: list[tuple[str, str]] = []
        arguments = []
        for i, (name, kind) in enumerate(zip(self._names, self._given, strict=True)):
            parts = tuple(f"%a{i}.{k}" for k in range(len(kind.parts)))
            arguments += [f"{t} {p}" for t, p in zip(kind.parts, parts, strict=True)]
            self._set_name(name, Value(kind, parts))
        ended = self._body(self._tree.body)
        if not ended:
            self._do.put("unreachable" if self.returned != NOTHING else "ret void")
        self._head = (
            f"define internal fastcc {_returned(self.returned)} @{self.symbol}({', '.join(arguments)}) #0 {{"
        )
        return before == (self._kinds, self.returned)

    @property
    def text(self) -> str:
        return "\n".join([self._head, "entry:", *self._do.slots, *self._do.lines, "}"])

    @property
    def declared(self) -> set[str]:
        return self._do.declared

    # Statements
    def _body(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether the following code cannot be reached."""
        for statement in statements:
            try:
                if self._statement(statement):
                    return True
            except Placed:
                raise
            except NotTranslated as error:
                raise Placed(self._module.at(self._function, statement, error)) from None
        return False

    def _statement(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Assign):
            self._assign(node)
        elif isinstance(node, ast.AugAssign):
            self._change(node)
        elif isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):
                self._value(node.value)
        elif isinstance(node, ast.If):
            return self._if(node)
        elif isinstance(node, ast.For) and not node.orelse:
            self._for(node)
        elif isinstance(node, ast.While) and not node.orelse:
            return self._while(node)
        elif isinstance(node, ast.Return):
            self._return(node)
            return True
        elif isinstance(node, (ast.Break, ast.Continue)):
            self._do.jump(self._loops[-1][isinstance(node, ast.Break)])
            return True
        elif not isinstance(node, ast.Pass):
            raise NotTranslated(f"compiled code does not support '{type(node).__name__}'")
        return False

    def _assign(self, node: ast.Assign) -> None:
        value = self._value(node.value)
        for target in node.targets:
            self._set(target, value)

    def _set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            for part, one in zip(target.elts, self._split(value), strict=True):
                self._set(part, one)
        elif isinstance(target, ast.Name):
            self._set_name(target.id, value)
        elif isinstance(target, ast.Attribute):
            place, kind = self._field_place(self._value(target.value), target.attr)
            if isinstance(kind, (ArrayKind, StructKind)):
                raise NotTranslated(f"compiled code cannot replace the {kind} '{target.attr}'")
            self._do.store(self._do.cast(value, kind), [place])
        elif isinstance(target, ast.Subscript):
            self._do.set_item(self._value(target.value), self._indices(target.slice), value)
        else:
            raise NotTranslated(f"'{ast.unparse(target)}' cannot be set")

    def _set_name(self, name: str, value: Value) -> None:
        kind = self._kinds.get(name)
        joined = self._kinds[name] = value.kind if kind is None else join(kind, value.kind)
        if name not in self._places or self._places[name][0] != joined:
            self._places[name] = joined, self._do.slot(joined)
        self._do.store(self._cast(value, joined), self._places[name][1])

    def _cast(self, value: Value, kind: Kind) -> Value:
        """Convert to a value of a wider kind, also for tuples."""
        if isinstance(kind, SeveralKind) and kind != value.kind:
            parts = [self._do.cast(v, k) for v, k in zip(self._split(value), kind.kinds, strict=True)]
            return Value(kind, tuple(p for part in parts for p in part.parts))
        return self._do.cast(value, kind)

    def _split(self, value: Value) -> list[Value]:
        """The members of a tuple."""
        if not isinstance(value.kind, SeveralKind):
            raise NotTranslated(f"a {value.kind} is not a tuple")
        found, at = [], 0
        for kind in value.kind.kinds:
            found.append(Value(kind, value.parts[at : at + len(kind.parts)]))
            at += len(kind.parts)
        return found

    def _change(self, node: ast.AugAssign) -> None:
        change = type(node.op)
        if isinstance(node.target, ast.Subscript):
            array, indices = self._value(node.target.value), self._indices(node.target.slice)
            old = self._do.item(array, indices)
            self._do.set_item(array, indices, self._do.binary(change, old, self._value(node.value)))
        else:
            old = self._value(node.target)
            self._set(node.target, self._do.binary(change, old, self._value(node.value)))

    def _if(self, node: ast.If) -> bool:
        do = self._do
        yes, no, after = do.label(), do.label(), do.label()
        do.branch(self._condition(node.test), yes, no if node.orelse else after)
        do.begin(yes)
        ended = self._body(node.body)
        if not ended:
            do.jump(after)
        if node.orelse:
            do.begin(no)
            other = self._body(node.orelse)
            if not other:
                do.jump(after)
            if ended and other:
                return True
        do.begin(after)
        return False

    def _for(self, node: ast.For) -> None:
        do = self._do
        if not isinstance(node.target, ast.Name):
            raise NotTranslated("the target of a loop must be a single name")
        if not (isinstance(node.iter, ast.Call) and self._static(node.iter.func) is range):
            raise NotTranslated("a loop must iterate over range(...)")
        bounds = [do.cast(self._value(bound), WHOLE) for bound in node.iter.args]
        step = bounds[2] if len(bounds) == 3 else constant(1)
        start, stop = (constant(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        if not step.constant:
            raise NotTranslated("the step of a range must be a constant other than 0")
        counter = do.slot(WHOLE)
        do.store(start, counter)
        head, body, following, after = (do.label() for _ in range(4))
        do.jump(head)
        do.begin(head)
        i = do.load(WHOLE, counter)
        do.branch(do.compare(ast.Lt if step.constant > 0 else ast.Gt, i, stop), body, after)
        do.begin(body)
        self._set_name(node.target.id, i)
        self._loops.append((following, after))
        if not self._body(node.body):
            do.jump(following)
        self._loops.pop()
        do.begin(following)
        i = do.load(WHOLE, counter)
        do.put(f"store i64 {do.name(f'add nsw i64 {i.parts[0]}, {step.parts[0]}')}, ptr {counter[0]}")
        do.jump(head)
        do.begin(after)

    def _while(self, node: ast.While) -> bool:
        do = self._do
        head, body, after = (do.label() for _ in range(3))
        do.jump(head)
        do.begin(head)
        endless = isinstance(node.test, ast.Constant) and node.test.value is True
        if endless:
            do.jump(body)
        else:
            do.branch(self._condition(node.test), body, after)
        do.begin(body)
        self._loops.append((head, after))
        if not self._body(node.body):
            do.jump(head)
        self._loops.pop()
        do.begin(after)
        if endless and not any(isinstance(inside, ast.Break) for inside in ast.walk(node)):
            do.put("unreachable")
            return True
        return False

    def _return(self, node: ast.Return) -> None:
        value = Value(NOTHING, ()) if node.value is None else self._value(node.value)
        self.returned = join(self.returned, value.kind) if self._returns else value.kind
        self._returns = True
        value = self._cast(value, self.returned)
        if len(value.parts) == 1:
            self._do.put(f"ret {value.kind.parts[0]} {value.parts[0]}")
            return
        whole, found = _returned(value.kind), "undef"
        for i, (t, part) in enumerate(zip(value.kind.parts, value.parts, strict=True)):
            found = self._do.name(f"insertvalue {whole} {found}, {t} {part}, {i}")
        self._do.put(f"ret {whole} {found}" if value.parts else "ret void")

    # Values
    def _static(self, node: ast.expr) -> Any:
        """The value of a name of the module, or of another module; `_ABSENT` for values of the function."""
        if isinstance(node, ast.Name) and node.id not in self._local:
            free = dict(
                zip(self._function.__code__.co_freevars, self._function.__closure__ or (), strict=True)
            )
            if node.id in free:
                return free[node.id].cell_contents
            found = self._function.__globals__.get(node.id, vars(builtins).get(node.id, _ABSENT))
            if found is _ABSENT:
                raise NotTranslated(f"unknown name '{node.id}'")
            return found
        if isinstance(node, ast.Attribute):
            owner = self._static(node.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, node.attr)
        return _ABSENT

    def _value(self, node: ast.expr) -> Value:
        found = self._static(node)
        if found is not _ABSENT:
            return self._known(found)
        method = getattr(self, f"_{type(node).__name__.lower()}_value", None)
        if method is None:
            raise NotTranslated(
                f"compiled code does not support '{type(node).__name__}': {ast.unparse(node)}"
            )
        return method(node)

    def _known(self, found: Any) -> Value:
        if isinstance(found, _NUMBER):
            return constant(found)
        if isinstance(found, np.ndarray):
            kind = array_of({"f": REAL, "i": WHOLE}[found.dtype.kind], found.ndim)
            return Value(kind, (self._module.data(found), *(str(n) for n in found.shape)))
        if isinstance(found, tuple):
            return self._tuple([self._known(one) for one in found])
        raise NotTranslated(f"a {type(found).__name__} is not a value of compiled code")

    def _tuple(self, values: Sequence[Value]) -> Value:
        return Value(several(tuple(v.kind for v in values)), tuple(p for v in values for p in v.parts))

    def _name_value(self, node: ast.Name) -> Value:
        if node.id not in self._places:
            raise NotTranslated(f"'{node.id}' is used before it is set")
        kind, places = self._places[node.id]
        return self._do.load(kind, places)

    def _constant_value(self, node: ast.Constant) -> Value:
        return constant(node.value)

    def _tuple_value(self, node: ast.Tuple) -> Value:
        return self._tuple([self._value(one) for one in node.elts])

    def _field_place(self, owner: Value, name: str) -> tuple[str, Kind]:
        """The place of a field of a struct, and its kind."""
        if not isinstance(owner.kind, StructKind) or name not in owner.kind.struct.fields:
            raise NotTranslated(f"a value of kind {owner.kind} has no '{name}'")
        field = owner.kind.struct.fields[name]
        place = self._do.name(f"getelementptr inbounds i64, ptr {owner.parts[0]}, i64 {field.first}")
        return place, kind_of_field(field)

    def _attribute_value(self, node: ast.Attribute) -> Value:
        do, owner = self._do, self._value(node.value)
        if isinstance(owner.kind, ArrayKind) and node.attr in ("size", "shape"):
            sizes = [Value(WHOLE, (n,), int(n) if n.isdigit() else None) for n in owner.parts[1:]]
            if node.attr == "shape":
                return self._tuple(sizes)
            found = sizes[0]
            for one in sizes[1:]:
                found = do.binary(ast.Mult, found, one)
            return found
        if is_number(owner.kind) and node.attr in ("real", "imag"):
            return Value(REAL, (do.cast(owner, COMPLEX).parts[node.attr == "imag"],))
        place, kind = self._field_place(owner, node.attr)
        words = [
            do.name(f"getelementptr inbounds i64, ptr {place}, i64 {k}") for k in range(1, len(kind.parts))
        ]
        return do.load(kind, [place, *words])

    def _indices(self, node: ast.expr) -> list[Value]:
        if isinstance(node, ast.Tuple):
            return [self._value(one) for one in node.elts]
        return [self._value(node)]

    def _subscript_value(self, node: ast.Subscript) -> Value:
        owner = self._value(node.value)
        indices = self._indices(node.slice)
        if isinstance(owner.kind, SeveralKind):
            if len(indices) != 1 or indices[0].constant is None:
                raise NotTranslated("the index of a tuple must be a constant")
            return self._split(owner)[indices[0].constant]
        return self._do.item(owner, indices)

    def _binop_value(self, node: ast.BinOp) -> Value:
        return self._do.binary(type(node.op), self._value(node.left), self._value(node.right))

    def _unaryop_value(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self._do.negated(self._condition(node.operand))
        value = self._value(node.operand)
        if isinstance(node.op, ast.USub):
            return self._do.minus(value)
        if isinstance(node.op, ast.UAdd):
            return value
        raise NotTranslated(f"compiled code does not support '{type(node.op).__name__}'")

    def _boolop_value(self, node: ast.BoolOp) -> Value:
        for part in node.values:
            if self._do.tried(lambda part=part: self._value(part)).kind != TRUTH:
                raise NotTranslated("'and' and 'or' need truth values; compare numbers first")
        return self._condition(node)

    def _condition(self, node: ast.expr) -> Value:
        """The truth value of an expression."""
        if not isinstance(node, ast.BoolOp):
            return self._do.truth(self._value(node))
        do, slot = self._do, self._do.slot(TRUTH)
        after = do.label()
        for part in node.values[:-1]:
            found, following = self._condition(part), do.label()
            do.store(found, slot)
            if isinstance(node.op, ast.And):
                do.branch(found, following, after)
            else:
                do.branch(found, after, following)
            do.begin(following)
        do.store(self._condition(node.values[-1]), slot)
        do.jump(after)
        do.begin(after)
        return do.load(TRUTH, slot)

    def _compare_value(self, node: ast.Compare) -> Value:
        do, left, found = self._do, self._value(node.left), None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._value(right_node)
            if isinstance(op, (ast.In, ast.NotIn)):
                one: Value | None = None
                for member in self._split(right):
                    equal = do.compare(ast.Eq, left, member)
                    one = equal if one is None else do.binary(ast.BitOr, one, equal)
                assert one is not None
                one = do.negated(one) if isinstance(op, ast.NotIn) else one
            else:
                one = do.compare(type(op), left, right)
            found = one if found is None else do.binary(ast.BitAnd, found, one)
            left = right
        assert found is not None
        return found

    def _ifexp_value(self, node: ast.IfExp) -> Value:
        do, arms = self._do, (node.body, node.orelse)
        kinds = [do.tried(lambda arm=arm: self._value(arm)).kind for arm in arms]
        kind = join(*kinds)
        slot, labels, after = do.slot(kind), [do.label(), do.label()], do.label()
        do.branch(self._condition(node.test), *labels)
        for arm, label in zip(arms, labels, strict=True):
            do.begin(label)
            do.store(self._cast(self._value(arm), kind), slot)
            do.jump(after)
        do.begin(after)
        return do.load(kind, slot)

    def _call_value(self, node: ast.Call) -> Value:
        called = self._static(node.func)
        if node.keywords:
            raise NotTranslated("compiled code accepts positional arguments only")
        if called is float and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            return constant(float(node.args[0].value))
        values = [self._value(argument) for argument in node.args]
        if isinstance(called, Inner):
            return self._call(called, values)
        if isinstance(called, Procedure):
            numbers = [self._do.cast(value, REAL).parts[0] for value in values[1:]]
            self._module.needs.add(called.symbol)
            listed = f"ptr {values[0].parts[0]}, double {numbers[0]}, double {numbers[1]}"
            return Value(WHOLE, (self._do.name(f"call i64 @{called.symbol}({listed})"),))
        if isinstance(called, Primitive):
            return getattr(self, f"_{called.name}")(*values)
        return self._builtin(called, values)

    def _call(self, called: Inner, values: Sequence[Value]) -> Value:
        made = self._module.function(called, [value.kind for value in values])
        self.calls.add(made.symbol)
        listed = [f"{t} {p}" for v in values for t, p in zip(v.kind.parts, v.parts, strict=True)]
        kind = made.returned
        instruction = f"call fastcc {_returned(kind)} @{made.symbol}({', '.join(listed)})"
        if not kind.parts:
            self._do.put(instruction)
            return Value(kind, ())
        found = self._do.name(instruction)
        if len(kind.parts) == 1:
            return Value(kind, (found,))
        whole = _returned(kind)
        return Value(
            kind, tuple(self._do.name(f"extractvalue {whole} {found}, {i}") for i in range(len(kind.parts)))
        )

    def _builtin(self, called: Any, values: list[Value]) -> Value:
        do = self._do
        if called in (max, min) and len(values) > 1:
            return do.extreme(ast.Gt if called is max else ast.Lt, values)
        if called is abs:
            return do.absolute(values[0])
        if called in (int, np.int64):
            return do.to_whole(values[0])
        if called in (float, np.float64):
            return do.cast(values[0], REAL)
        if called is bool:
            return do.truth(values[0])
        if called is complex:
            return Value(COMPLEX, tuple(do.cast(value, REAL).parts[0] for value in values))
        if called is round and len(values) == 1:
            return do.to_whole(do.function("roundeven", values[0]))
        if called is math.floor:
            return do.to_whole(do.function("floor", values[0]))
        if called is math.isfinite:
            return do.compare(ast.Lt, do.function("fabs", values[0]), constant(math.inf))
        name = getattr(called, "__name__", "")
        if getattr(math, name, None) is called and name in (*INTRINSICS, *LIBRARY):
            return do.function(name, *values)
        raise NotTranslated(f"compiled code cannot call {getattr(called, '__qualname__', called)!r}")

    # Primitives
    def _call_native(self, function: Value, *arrays: Value) -> Value:
        do = self._do
        if function.kind != FUNCTION or not all(isinstance(array.kind, ArrayKind) for array in arrays):
            kinds = ", ".join(str(value.kind) for value in (function, *arrays))
            raise NotTranslated(f"a native function is called with its address and arrays (got {kinds})")
        called = do.name(f"inttoptr i64 {function.parts[0]} to ptr")
        do.put(f"call void {called}({', '.join(f'ptr {array.parts[0]}' for array in arrays)})")
        return Value(NOTHING, ())

    def _tail(self, table: Value, first: Value) -> Value:
        place, _ = self._do.item_at(table, [first])
        size = Value(WHOLE, (table.parts[1],))
        return Value(table.kind, (place, self._do.binary(ast.Sub, size, first).parts[0]))


def _returned(kind: Kind) -> str:
    """The LLVM return type for a kind."""
    if len(kind.parts) == 1:
        return kind.parts[0]
    return "{" + ", ".join(kind.parts) + "}" if kind.parts else "void"
