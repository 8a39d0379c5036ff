"""Structs, helpers and procedures as numba sees them. Imported only where something is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import jit
from numba.core import cgutils, compiler_machinery, typed_passes, types, untyped_passes
from numba.core.compiler import Compiler
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate, infer_getattr, signature
from numba.extending import (
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    typeof_impl,
)

from sekant.solvers.common import field_arrays
from sekant.solvers.common.field_arrays import FieldArray
from sekant.solvers.common.loops import Inner, Primitive, Procedure
from sekant.solvers.common.structs import Field, Struct

OPTIONS: dict[str, Any] = {
    "nopython": True,
    "error_model": "numpy",  # division by zero gives inf or NaN
    "_nrt": False,  # nothing is allocated
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


class Translation(Compiler):
    """Numba's passes as far as explicit loops need them: no closures, no array expressions, nothing to inline."""

    def define_pipelines(self):
        pipeline = compiler_machinery.PassManager("loops")
        untyped, typed = untyped_passes, typed_passes
        for step in (
            untyped.TranslateByteCode,
            untyped.FixupArgs,
            untyped.IRProcessing,
            untyped.ReconstructSSA,
            typed.NopythonTypeInference,
            typed.PreLowerStripPhis,
            typed.IRLegalization,
            typed.AnnotateTypes,
            typed.NativeLowering,
            typed.NoPythonBackend,
        ):
            pipeline.add_pass(step, step.__name__)
        pipeline.finalize()
        return [pipeline]


_WORD, _REAL = ir.IntType(64), ir.DoubleType()
_VOID_POINTER = ir.IntType(8).as_pointer()
_NUMBERS: dict[Any, Any] = {
    np.float64: types.float64,
    np.int64: types.int64,
    np.complex128: types.complex128,
}
_intrinsic: Any = intrinsic
_target: Any = cpu_target


class StructType(types.Type):
    """The address of a struct."""

    def __init__(self, struct: type[Struct]):
        self.struct = struct
        super().__init__(name=f"Struct({struct.__module__}.{struct.__qualname__})")


@register_default(StructType)
class StructModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: StructType):
        super().__init__(dmm, fe_type, _VOID_POINTER)


def type_of_field(field: Field) -> Any:
    if field.struct is not None:
        return StructType(field.struct)
    number = _NUMBERS[field.kind.dtype]
    return FieldArray(number, field.kind.axes) if field.kind.axes else number


@infer_getattr
class StructAttributes(AttributeTemplate):
    key = StructType

    def generic_resolve(self, value: StructType, attr: str) -> Any:
        field = value.struct.fields.get(attr)
        return None if field is None else type_of_field(field)


def _place(builder: Any, value: Any, word: int, kind: Any = _WORD) -> Any:
    base = builder.bitcast(value, kind.as_pointer())
    return builder.gep(base, [ir.Constant(ir.IntType(64), word)])


@lower_getattr_generic(StructType)
def _get_field(context, builder, kind, value, attr):
    field = kind.struct.fields[attr]
    if field.struct is not None:
        return builder.inttoptr(builder.load(_place(builder, value, field.first)), _VOID_POINTER)
    if field.kind.axes == 0:
        number = _REAL if field.kind.dtype is np.float64 else _WORD
        return builder.load(_place(builder, value, field.first, number))
    words = [builder.load(_place(builder, value, field.first + k)) for k in range(1 + field.kind.axes)]
    return field_arrays.pack(context, builder, type_of_field(field), words[0], words[1:])


@lower_setattr_generic(StructType)
def _set_field(context, builder, sig, args, attr):
    kind, value_type = sig.args
    field = kind.struct.fields[attr]
    if field.kind.axes or field.struct is not None:
        raise TypeError(f"compiled code cannot replace the array {kind.struct.__name__}.{attr}")
    target = type_of_field(field)
    value = context.cast(builder, args[1], value_type, target)
    number = _REAL if isinstance(target, types.Float) else _WORD
    builder.store(value, _place(builder, args[0], field.first, number))


@typeof_impl.register(Inner)
def _type_of_inner(value, context):
    if value.dispatcher is None:
        value.dispatcher = _without_literals(jit(pipeline_class=Translation, **OPTIONS)(value.function))
    return types.Dispatcher(value.dispatcher)


def _without_literals(dispatcher: Any) -> Any:
    """Let numba compile a helper once for all integers: not again for each constant that it is called with."""
    whole = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return whole(tuple(types.unliteral(kind) for kind in args), kws)

    dispatcher.get_call_template = get_call_template
    return dispatcher


@typeof_impl.register(Primitive)
def _type_of_primitive(value, context):
    return _target.typing_context.resolve_value_type(PRIMITIVES[value.name])


@typeof_impl.register(Procedure)
def _type_of_procedure(value, context):
    made = _CALLS.get(value.symbol)
    if made is None:
        made = _CALLS[value.symbol] = _call_of(value)
        _target.typing_context.refresh()
        _target.target_context.refresh()
    return _target.typing_context.resolve_value_type(made)


_CALLS: dict[str, Any] = {}


def _call_of(called: Procedure) -> Any:
    """A call of another procedure by its symbol; the linker finds it."""
    kind = ir.FunctionType(_WORD, [_VOID_POINTER, _REAL, _REAL])

    def call(typingctx, m, a, b):
        def codegen(context, builder, sig, values):
            function = cgutils.get_or_insert_function(builder.module, kind, called.symbol)
            return builder.call(function, values)

        return signature(types.int64, m, types.float64, types.float64), codegen

    return _intrinsic(call)


@_intrinsic
def _call_function(typingctx, address, arg, res, w):
    """See `sekant.solvers.common.calls`."""

    def codegen(context, builder, sig, values):
        def pointer(value, kind):
            if isinstance(kind, FieldArray):
                return builder.bitcast(builder.extract_value(value, 0), _VOID_POINTER)
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, value)
                return builder.bitcast(array.data, _VOID_POINTER)
            return builder.inttoptr(value, _VOID_POINTER)

        pointers = [pointer(v, k) for v, k in zip(values[1:], sig.args[1:], strict=True)]
        kind = ir.FunctionType(ir.VoidType(), [_VOID_POINTER] * 3)
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.none(address, arg, res, w), codegen


@_intrinsic
def _section(typingctx, array, k):
    return array(array, types.int64), field_arrays.section


PRIMITIVES: dict[str, Any] = {"call_native": _call_function, "section": _section}
