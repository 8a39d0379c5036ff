"""Arrays of structs as numba sees them: an address and a shape.

Numba's own arrays are seven values each, and every access goes through memory: with these, loops take a third less
time to compile. They are contiguous, the last axis fastest. What can be done with them: ``a[i]``, ``a[i, j]``, a row
``a[i]`` of a matrix, ``a.size``, ``a.shape``, ``a[i] = x``; a negative index counts from the end.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import lower_getattr

_WORD = ir.IntType(64)
_infer_global: Any = infer_global


class FieldArray(types.Type):
    def __init__(self, dtype: Any, axes: int):
        self.dtype, self.axes = dtype, axes
        super().__init__(name=f"FieldArray({dtype}, {axes})")


@register_default(FieldArray)
class FieldArrayModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: FieldArray):
        item = dmm.lookup(fe_type.dtype).get_data_type()
        super().__init__(dmm, fe_type, ir.LiteralStructType([item.as_pointer(), *[_WORD] * fe_type.axes]))


def pack(context: Any, builder: Any, kind: Any, address: Any, shape: Any) -> Any:
    """The value of an array; `address`: an integer or a pointer to its items."""
    made = context.get_value_type(kind)
    data = (
        address if isinstance(address.type, ir.PointerType) else builder.inttoptr(address, made.elements[0])
    )
    value = ir.Constant(made, ir.Undefined)
    for i, part in enumerate((data, *shape)):
        value = builder.insert_value(value, part, i)
    return value


def section(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """A view of section k (see `sections`) of an array of one axis."""
    kind, data = sig.args[0], builder.extract_value(values[0], 0)

    def start(index: Any) -> Any:
        value = builder.load(builder.gep(data, [index]))
        return builder.fptosi(value, _WORD) if isinstance(kind.dtype, types.Float) else value

    first, last = start(values[1]), start(builder.add(values[1], ir.Constant(_WORD, 1)))
    return pack(context, builder, kind, builder.gep(data, [first]), [builder.sub(last, first)])


@infer_getattr
class FieldArrayAttributes(AttributeTemplate):
    key = FieldArray

    def resolve_size(self, kind: FieldArray) -> Any:
        return types.int64

    def resolve_shape(self, kind: FieldArray) -> Any:
        return types.UniTuple(types.int64, kind.axes)


@lower_getattr(FieldArray, "size")
def _size(context, builder, kind, value):
    size = builder.extract_value(value, 1)
    for axis in range(1, kind.axes):
        size = builder.mul(size, builder.extract_value(value, 1 + axis))
    return size


@lower_getattr(FieldArray, "shape")
def _shape(context, builder, kind, value):
    shape = [builder.extract_value(value, 1 + axis) for axis in range(kind.axes)]
    return context.make_tuple(builder, types.UniTuple(types.int64, kind.axes), shape)


def _indices(index: Any) -> tuple[Any, ...]:
    """The types of the indices, or none if these are no whole numbers."""
    several: Any = index
    kinds = (*several.types,) if isinstance(index, types.BaseTuple) else (index,)
    return kinds if all(isinstance(kind, types.Integer) for kind in kinds) else ()


def _plain(index: Any) -> Any:
    """The type of an index without literals."""
    count = len(_indices(index))
    return types.UniTuple(types.int64, count) if isinstance(index, types.BaseTuple) else types.int64


@_infer_global(operator.getitem)
class GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array, index = args
        if not isinstance(array, FieldArray):
            return None
        count = len(_indices(index))
        if not 1 <= count <= array.axes:
            return None
        found = array.dtype if count == array.axes else FieldArray(array.dtype, array.axes - count)
        return signature(found, array, _plain(index))


@_infer_global(operator.setitem)
class SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array, index, _ = args
        if not isinstance(array, FieldArray) or len(_indices(index)) != array.axes:
            return None
        return signature(types.none, array, _plain(index), array.dtype)


def _pointer(builder: Any, kind: Any, array: Any, index_type: Any, index: Any) -> tuple[Any, list[Any]]:
    """Where an item or a sub-array begins, and the shape of the latter."""
    if isinstance(index_type, types.BaseTuple):
        indices = [builder.extract_value(index, i) for i in range(len(index_type))]
    else:
        indices = [index]
    shape = [builder.extract_value(array, 1 + axis) for axis in range(kind.axes)]
    offset = ir.Constant(_WORD, 0)
    for axis in range(kind.axes):
        if axis > 0:
            offset = builder.mul(offset, shape[axis])
        if axis < len(indices):
            i = indices[axis]
            if not isinstance(i, ir.Constant):
                wrapped = builder.add(i, shape[axis])
                i = builder.select(builder.icmp_signed("<", i, ir.Constant(_WORD, 0)), wrapped, i)
            elif i.constant < 0:
                i = builder.add(i, shape[axis])
            offset = builder.add(offset, i) if axis > 0 else i
    return builder.gep(builder.extract_value(array, 0), [offset], inbounds=True), shape[len(indices) :]


@lower_builtin(operator.getitem, FieldArray, types.Integer)
@lower_builtin(operator.getitem, FieldArray, types.BaseTuple)
def _get_item(context, builder, sig, args):
    kind, index_type = sig.args
    place, rest = _pointer(builder, kind, args[0], index_type, args[1])
    if rest:
        return pack(context, builder, sig.return_type, place, rest)
    return context.unpack_value(builder, kind.dtype, place)


@lower_builtin(operator.setitem, FieldArray, types.Integer, types.Any)
@lower_builtin(operator.setitem, FieldArray, types.BaseTuple, types.Any)
def _set_item(context, builder, sig, args):
    kind, index_type, value_type = sig.args
    place, _ = _pointer(builder, kind, args[0], index_type, args[1])
    value = context.cast(builder, args[2], value_type, kind.dtype)
    context.pack_value(builder, kind.dtype, value, place)
    return context.get_dummy_value()
