"""The machine instructions of a direct call, as LLVM IR; see `direct_call`.

A built-in function of Python that is bound to an array of words:

    0 whether a call is under way, 1 the code, 2 its scratch memory, 3 the number of inputs, 4 of results,
    5 and 6 the tables of their addresses, 7 to 12 the objects `ndarray`, the type of doubles, `float`, True, False
    and `list`, 13 memory for the numbers of short lists, then the size of each input.
"""

from __future__ import annotations

import sys

from sekant.object_code.link import ENTRY

HEAD = object.__basicsize__  # the count of references and the type end it
WORDS = 14
LIST = 32  # numbers of a list that are taken one by one
_COUNTED = sys.version_info < (3, 12)  # True and False are counted as other objects are


def _word(name: str, index: int) -> str:
    return f" %{name}_at = getelementptr i64, ptr %m, i64 {index}\n %{name} = load i64, ptr %{name}_at\n"


def _field(name: str, offset: int, kind: str = "i64") -> str:
    return f" %{name}_at = getelementptr i8, ptr %o, i64 {offset}\n %{name} = load {kind}, ptr %{name}_at\n"


def _answer(name: str) -> str:
    count = f"""
 %{name}_count = getelementptr i8, ptr %{name}_object, i64 {HEAD - 16}
 %{name}_before = load i64, ptr %{name}_count
 %{name}_after = add i64 %{name}_before, 1
 store i64 %{name}_after, ptr %{name}_count"""
    return (
        f" %{name}_object = inttoptr i64 %{name} to ptr{count if _COUNTED else ''}\n ret ptr %{name}_object\n"
    )


TEXT = f"""
define ptr @{ENTRY}(ptr %self, ptr %args, i64 %given) nounwind {{
 %m_at = getelementptr i8, ptr %self, i64 {HEAD}
 %m = load ptr, ptr %m_at
{_word("busy", 0)}{_word("code", 1)}{_word("work", 2)}{_word("inputs", 3)}{_word("results", 4)}{_word("arg", 5)}
{_word("res", 6)}{_word("array", 7)}{_word("double", 8)}{_word("float", 9)}{_word("true", 10)}{_word("false", 11)}
{_word("list", 12)}{_word("spare", 13)}
 %arg_table = inttoptr i64 %arg to ptr
 %res_table = inttoptr i64 %res to ptr
 %count = add i64 %inputs, %results
 %as_many = icmp eq i64 %count, %given
 %free = icmp eq i64 %busy, 0
 %ready = and i1 %as_many, %free
 br i1 %ready, label %next, label %refuse
next:
 %i = phi i64 [0, %0], [%i_next, %take]
 %more = icmp slt i64 %i, %inputs
 br i1 %more, label %look, label %next_result
look:
 %o_at = getelementptr ptr, ptr %args, i64 %i
 %o = load ptr, ptr %o_at
 %size_index = add i64 %i, {WORDS}
 %size_at = getelementptr i64, ptr %m, i64 %size_index
 %size = load i64, ptr %size_at
{_field("type", HEAD - 8)}
 %is_array = icmp eq i64 %type, %array
 br i1 %is_array, label %of_array, label %of_number
of_array:
{_field("data", HEAD)}{_field("axes", HEAD + 8, "i32")}{_field("shape", HEAD + 16, "ptr")}
{_field("kind", HEAD + 40)}{_field("flags", HEAD + 48, "i32")}
 %is_double = icmp eq i64 %kind, %double
 %is_row = icmp eq i32 %axes, 1
 %marks = and i32 %flags, 257
 %is_plain = icmp eq i32 %marks, 257
 %a = and i1 %is_double, %is_row
 %b = and i1 %a, %is_plain
 br i1 %b, label %measure, label %refuse
measure:
 %length = load i64, ptr %shape
 %fits = icmp eq i64 %length, %size
 br i1 %fits, label %take, label %refuse
of_number:
 %is_float = icmp eq i64 %type, %float
 %is_one = icmp eq i64 %size, 1
 %c = and i1 %is_float, %is_one
 %value_at = getelementptr i8, ptr %o, i64 {HEAD}
 %value = ptrtoint ptr %value_at to i64
 br i1 %c, label %take, label %maybe_list
maybe_list:
 %is_list = icmp eq i64 %type, %list
 br i1 %is_list, label %of_list, label %refuse
of_list:
{_field("listed", HEAD)}{_field("items", HEAD + 8, "ptr")}
 %is_short = icmp sle i64 %size, {LIST}
 %is_whole = icmp eq i64 %listed, %size
 %d = and i1 %is_short, %is_whole
 %offset = mul i64 %i, {8 * LIST}
 %slot = add i64 %spare, %offset
 %row = inttoptr i64 %slot to ptr
 br i1 %d, label %next_item, label %refuse
next_item:
 %j = phi i64 [0, %of_list], [%j_next, %copy]
 %more_items = icmp slt i64 %j, %size
 br i1 %more_items, label %item, label %take
item:
 %x_at = getelementptr ptr, ptr %items, i64 %j
 %x = load ptr, ptr %x_at
 %x_type_at = getelementptr i8, ptr %x, i64 {HEAD - 8}
 %x_type = load i64, ptr %x_type_at
 %x_float = icmp eq i64 %x_type, %float
 br i1 %x_float, label %copy, label %refuse
copy:
 %x_value_at = getelementptr i8, ptr %x, i64 {HEAD}
 %x_value = load double, ptr %x_value_at
 %x_to = getelementptr double, ptr %row, i64 %j
 store double %x_value, ptr %x_to
 %j_next = add i64 %j, 1
 br label %next_item
take:
 %place = phi i64 [%data, %measure], [%value, %of_number], [%slot, %next_item]
 %to = getelementptr i64, ptr %arg_table, i64 %i
 store i64 %place, ptr %to
 %i_next = add i64 %i, 1
 br label %next
next_result:
 %k = phi i64 [0, %next], [%k_next, %put]
 %more_results = icmp slt i64 %k, %results
 br i1 %more_results, label %put, label %run
put:
 %index = add i64 %inputs, %k
 %y_at = getelementptr ptr, ptr %args, i64 %index
 %y = load ptr, ptr %y_at
 %y_data_at = getelementptr i8, ptr %y, i64 {HEAD}
 %y_data = load i64, ptr %y_data_at
 %y_to = getelementptr i64, ptr %res_table, i64 %k
 store i64 %y_data, ptr %y_to
 %k_next = add i64 %k, 1
 br label %next_result
run:
 store i64 1, ptr %m
 %function = inttoptr i64 %code to ptr
 %memory = inttoptr i64 %work to ptr
 call void %function(ptr %arg_table, ptr %res_table, ptr %memory)
 store i64 0, ptr %m
{_answer("true")}refuse:
{_answer("false")}}}
"""
