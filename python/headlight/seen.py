"""What `watch` saw: a sequence of calls, what is wrong with them and where, files, pages and windows. The program is
handed what is seen, and names mistakes by codes; here each gets its line of the caller's code."""
from __future__ import annotations

import base64
import contextlib
import html as _html
import itertools
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .engine import (LISTS, STACKS, Array, Error, Folder, Words, _answer, _asked_of, as_numpy, export, figure,
                     first_line, held_file, layers_of, notebook_shell, open_window, projections, refused, regular,
                     require, roles_of, run, side_by_side, tensors_file, token_metadata, torch_module,
                     words_of_options, write_npz, write_safetensors, written_whole)
from .flow import NAMED, allowed_of, leaks, masks_dropped, pasts, said_of, stand_of, tokens_of, words
from .follow import Enough, Tracer
from .nodes import MADE, MOST_WEIGHTS, NOTHING, Call, Node, Site, factor_of, first_reshaping, recovered

_MOST_PAGE = 8 << 20      # bytes of a page that a notebook still keeps gladly
_MOST_HELD = 32 << 20     # bytes of arrays that a page is made of; beyond that a picture
_SIDES = {"queries": "query", "keys": "key", "values": "value"}     # names in files, and roles
_NO_KEYS = "loss|label|mlm|pos|global|prefix"     # in names of masks that are of no keys
_MEANT = {      # names of a program that say what would be a mistake where nothing says it
    "softmax_replaced": "sigmoid", "softmax_axis": "bilinear|compet|co_?att|inverted_?att|(?<!resi)dual",
    "mask_transposed": "backward|revers|bwd|r2l|futur", "diagonal_blocked": "strict|exclu|no_self|query_stream",
    "mask_off_by_one": "right_context|look_?ahead(?!_mask)|wait_?k|stream|strict|exclu|no_self",
    "dropout_left_on": "mc_?drop|bayes"}


class Mistake(NamedTuple):
    """One mistake: what, and where in the caller's code; indices of calls, and a name for programs: scale_missing."""
    text: str
    file: str | None = None
    line: int | None = None
    calls: tuple[int, ...] = ()
    code: str = ""

    def __str__(self) -> str:
        return (f"{Site(self.file, self.line or 0)}: " if self.file else "") + self.text


def _line(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of a call: the line of code that ran it, and its scale."""
    return re.sub(r" \(.*", "", facts.get("where", "")), facts.get("d_k"), f"{facts.get('scale', 0):.4g}"


class Report:
    """What `check` found, also as text: `ok`, `mistakes`, `unchecked` (taken as given, not judged, not followed)."""

    def __init__(self, captured: Sequence[Any], language: str, notes: Sequence[Sequence[str]] = (),
                 expect: Mapping[str, Any] = {}, site_of: Callable[[Any], Site | None] = lambda one: None,
                 said: Sequence[Any] = (), compared: Sequence[Any] = ()) -> None:
        """The answer of `headlight diagnose` to calls, facts and arrays of each (capture/capture.h); what is `said`."""
        arrays = {f"{index}.{name}": array for index, (_, own) in enumerate(captured) for name, array in own.items()}
        facts = json.dumps({"calls": [facts for facts, _ in captured], "notes": list(dict.fromkeys(map(tuple, notes)))})
        metadata = {"capture": facts, "expect": json.dumps(dict(expect), allow_nan=False)}
        with tensors_file(arrays, metadata) as path, refused("headlight diagnose"):
            try:
                answer = json.loads(run(["diagnose", path, "--format", "json", "--language", language], accept=(0, 1)))
            except Error as error:      # (the file is of no caller)
                raise Error(str(error).replace(path, "check"), error.code) from None
        calls: dict[tuple[str, str, Site | None], list[int]] = {}
        scales = {one["call"] for one in answer["mistakes"] if one["code"] == "scale_missing"}
        plain = {_line(facts) for call, (facts, _) in enumerate(captured) if call not in scales and "scale" in facts
                 and any(one[0] == "add" for one in facts["steps"])}
        lent = {call for call in scales if _line(captured[call][0]) in plain}      # whose scale is right beside a bias
        said = [*said, *((call, captured[call][0].get("where", ""), "scale_given") for call in lent)]
        exchanged = {call for call, _, *text in said if re.search("'(mask_of_other_sentences|others)'", str(text))}
        for one in answer["mistakes"]:      # (masks of other sentences explain more than one that is off by one does)
            own = one["code"] in ("diagonal_blocked", "mask_off_by_one") and captured[one["call"]][0].get("shared")
            if one["call"] in exchanged and one["code"] in ("mask_missing", "mask_off_by_one") or own or \
                    one["call"] in lent and one["code"] == "scale_missing":
                continue      # (keys that are the queries need not be their own)
            calls.setdefault((one["text"], one["code"], site_of(one)), []).append(one["call"])
        named = {call for where in calls.values() for call in where}
        for call, _, code, *parts in said:
            if code in NAMED and call not in named:
                one = {"call": call, "code": code, "role": ""}
                calls.setdefault((words(code, *parts, language=language), code, site_of(one)), []).append(call)
        self.mistakes = [Mistake(text, *(site or (None, None)), tuple(dict.fromkeys(where)), code)
                         for (text, code, site), where in calls.items()]
        named = {call for where in calls.values() for call in where}
        lines = [f"{where}: " + words(*text, language=language) for call, where, *text in said
                 if call not in named or text[0] == "nan"]
        self.unchecked = [*answer["unchecked"], *dict.fromkeys(lines), *answer["notes"]]
        self.output = "\n".join(dict.fromkeys(words(*text, language=language) for text in compared))
        self.judged, self.calls = answer["judged"], answer["calls"]
        self._summary, self._some = [] if self.mistakes else answer["summary"], answer["some_calls"]

    @property
    def ok(self) -> bool:
        """Whether something was judged, no mistake found, and no part of what ran taken as given or not followed."""
        return not self.mistakes and self.judged > 0 and not self.unchecked

    def __str__(self) -> str:
        lines = [self.output] if self.output else []
        for mistake in self.mistakes:
            some = self._some[len(mistake.calls) > 1] if 0 < len(mistake.calls) < self.calls else "{}"
            starts = itertools.groupby(mistake.calls, lambda call, at=itertools.count(): call - next(at))
            runs = [list(run) for _, run in starts]      # of calls one after another
            numbers = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
            lines.append(some.format(mistake, numbers, self.calls))
        return "\n".join(lines + self._summary + self.unchecked)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap">{_html.escape(str(self))}</pre>'


@refused("check")
def check(*, query: Any, key: Any = None, value: Any = None, weights: Any = None, output: Any = None, mask: Any = None,
          num_heads: int | None = None, state_dict: Mapping[str, Any] | None = None,
          tolerance: float | None = None, language: str = "en") -> Report:
    """Is this attention right? For code without torch: hand over what went in and what came out.
    `query`, `key`, `value`: (T, d_model) before projection where `state_dict` has it; without it projected, (T, d_k),
    (heads, T, d_k), or (T, heads · d_k) with `num_heads`. `weights` (heads, T, S) or (T, S), `output` (T, …):
    what the caller's code gave. `mask` (T, S): true = may attend, or added. `tolerance`: that of `headlight diagnose`;
    None: as the least precise array has it, 2e-5 of float32, 4e-3 of float16, 3e-2 of bfloat16."""
    given = {"query": query, "key": key, "value": value, "mask": mask, "attentions": weights, "output": output}
    arrays = {name: as_numpy(array) for name, array in given.items() if array is not None}
    require({"attentions", "output"} & set(arrays), "check", "weights or output as your code computed them", "neither")
    kinds = " ".join(str(getattr(array[0] if isinstance(array, LISTS) and array else array, "dtype", ""))
                     for array in (query, key, value, weights, output))
    dtype = next((kind for kind in ("bfloat16", "float16") if kind in kinds), "float32")
    for name in [role for role in _SIDES.values() if role in arrays]:
        array = arrays[name]
        while array.ndim > (3 if state_dict is None else 2) and len(array) == 1:
            array = array[0]
        if array.ndim == 3:
            num_heads, array = num_heads or array.shape[0], side_by_side(array)
        require(array.ndim == 2, name, "(T, d_model) or (heads, T, d_k)", array.shape)
        arrays[name] = array[None].astype(np.float32)
    known = state_dict is None or num_heads or weights is not None
    require(known, "num_heads", "the number of heads beside state_dict", num_heads)
    require(tolerance is None or 0 <= tolerance < math.inf, "tolerance", "a number from 0 on", tolerance)
    require(isinstance(state_dict, (Mapping, type(None))), "state_dict", "a dict of arrays", type(state_dict).__name__)
    arrays.update({} if state_dict is None else projections(state_dict))
    if "attentions" in arrays:
        arrays["attentions"] = np.array(arrays["attentions"], np.float32, ndmin=4)
        num_heads = num_heads or arrays["attentions"].shape[1]
    if "output" in arrays:
        if arrays["output"].ndim == 3 and len(arrays["output"]) == num_heads != 1:      # of each head, as queries are
            arrays["output"] = side_by_side(arrays["output"])
        arrays["output"] = arrays["output"].astype(np.float32).reshape(1, -1, arrays["output"].shape[-1])
    return Report([({"dtype": dtype, "tolerance": tolerance or 0, "heads": num_heads or 1}, arrays)], language)


def _named_weights(modules: Sequence[Any], held: Sequence[Mapping[str, Any]] = ()) -> dict[str, tuple[str, Any]]:
    """The weights of the innermost module, or of what is `held`, that has those of query, key and value, by role: name
    and parameter."""
    for several in (*(module.named_parameters() for module in modules[:3]), *(one.items() for one in held)):
        weights: dict[str, tuple[str, Any]] = {}
        for name, parameter in several:
            for role in roles_of(name) if parameter.dim() in (2, 3) and "bias" not in name else ():
                weights.setdefault(role, (re.sub(r"[._]?(weight|kernel)$", "", name), parameter))
        if {"query", "key", "value"} <= set(weights):
            return weights
    return {}


class _Captured:
    """The facts and arrays of one call (capture/capture.h). `masks`: mask arguments of all calls, by number."""

    def __init__(self, call: Call, keep: int, intended: Array | None, masks: dict[Any, int],
                 scaled: bool = False, elsewhere: Sequence[Any] = ()) -> None:
        self.parts, self.call, self.scaled = call._parts, call, scaled      # (elsewhere by the same line)
        self.arrays: dict[str, Array] = {}
        over = call.wrong_axis()
        steps = [step for part in self.parts for step in part.path]
        opaque = next((step.info for part in self.parts for step in [*part.path, *part.weight_path]
                       if step.kind == "opaque"), "")
        if over == "the queries" and any(step.kind == "sum" for part in self.parts for step in part.weight_path):
            opaque = opaque or "softmax, sum"      # slots that compete for keys, and take means of them
        if over and call.value_node is NOTHING:
            opaque, over = opaque or call.function, None      # (what these weights are for is not known)
        if not opaque and over not in (None, "the queries", "the heads"):
            call.final = call.final or ("softmax_axis", call.site, over)
        if call.final:
            call.observe(*call.final)
        elif not opaque:
            for step in (step for step in steps if step.kind == "drop"):
                call.observe("dropout_on_scores", step.site)
            opaque = next((f"softmax, {step.kind}" for part in self.parts for step in part.changes_unlike_masks()), "")
            changes = [step for part in self.parts for step in part.changes()]
            scales = [step for step in changes if step.kind == "scale" and abs(factor_of(call.changes()) - 1) > 1e-6]
            opaque = opaque or "softmax, add" * bool(scales and any(step.kind == "add" for step in changes))
            for step in scales if not opaque and all(step.kind != "sum" for step in changes) else ():
                call.observe("weights_scaled", step.site, f"{step.info:.4g}")
        if call.output is None and len(self.parts) == 1 and call.shape[1] != call.shape[2]:
            call.output = call.side_by_side      # (of as many tokens as heads it is not known which is which)
        self.merged = call.merged(self.parts)
        self._take_heads()
        self.facts: dict[str, Any] = {"where": call.where, "opaque": opaque, "over": over or "", "meant": self._meant(),
                                      "observed": [one for part in self.parts for one in part.observed]}
        if not call.final and not opaque:
            self._take(keep, intended, masks, elsewhere)

    def _take_heads(self) -> None:
        """Heads that were joined along another axis may have been brought side by side since."""
        if self.merged is None:
            return
        (count, heads, queries, _), whole = self.call.shape, self.merged.shape[1]
        heads, width = heads * len(self.parts), whole // (heads * len(self.parts))
        at = np.unravel_index(self.merged, (count, heads, queries, width))
        if all((one == one[:, :1]).all() for one in (at[0], at[2])) and (at[1] == np.arange(whole) // width).all():
            for part in self.parts:
                part.observed = {code: site for code, site in part.observed.items() if code[0] != "merge_axis"}

    def _meant(self) -> list[list[str]]:
        """Codes of what is no mistake where the program says so itself, or where numbers alone do not show one."""
        call = self.call
        codes = ["unexplained", "groups_in_blocks"] + [code for code, said in _MEANT.items() if re.search(
            said, call.words, re.I)]
        codes += ["softmax_replaced"] * any(step.of == "shift" for step in call.path)
        width = None if call.value_tensor is None else call.value_tensor.shape[-1]
        codes += ["heads_summed"] * (call.columns_out in (None, width))      # (not repeated for each head)
        names = [call.node(role).path(MADE)[0].info for role in ("query", "key")]
        codes += ["merge_axis"] * (self.merged is None)
        packed = {one.name for one in names if hasattr(one, "axis")}
        if len(packed) == 1 and len(roles_of(*packed)) == 3 and not re.search("qkv|in_proj|query_key_value", *packed):
            codes += ["query_key_swapped", "roles_swapped"]      # (the name does not say in what order they stand)
        return [[code] for code in codes]

    def _take(self, keep: int, intended: Array | None, masks: dict[Any, int], elsewhere: Sequence[Any]) -> None:
        """The sentences that are kept."""
        parts, call, arrays = self.parts, self.call, self.arrays
        operands = {role: getattr(call, role) for role in _SIDES.values()}
        (count, heads, queries, d_k), keys = operands["query"].shape, operands["key"].shape[2]
        founds = [part.found for part in parts if part.found is not None]
        rows = call.rows if founds else None
        kept = min([count, keep if rows is None else 1, *map(len, founds)])
        few = rows is None and count * heads * queries * keys <= MOST_WEIGHTS
        sentences = range(count if few else kept)
        dtype = str(call.product.dtype).replace("torch.", "")
        if dtype not in ("float16", "bfloat16") and "cuda" in str(call.tensors["a"].device):
            dtype = "tf32"
        self.facts.update(dtype=dtype, heads=heads, d_k=d_k, partial=rows is not None, changed=bool(call.changes()),
                          by_query=call.contracted == call.side("query"), count=len(sentences), scale=call.scale,
                          heads_first=call.heads_first)
        swapped = queries == keys and call.swapped()
        if kept == count:
            self.facts["block"] = call.block
        self._take_inputs(operands, kept, swapped)
        if rows is not None:
            if arrays["query"].shape[1:] != (queries, heads * d_k) or swapped:
                arrays.clear()
                return
            arrays["query"] = arrays["query"][:, rows]
        if "value" in arrays and arrays["value"].shape[1] != arrays["key"].shape[1]:
            del arrays["value"]
        if len(founds) == len(parts):
            arrays["attentions"] = np.concatenate([as_numpy(found[:kept]) for found in founds], 1)
        dropped = any(step.kind == "drop" for part in parts for step in part.weight_path)
        if rows is None and "value" in arrays:
            merge = None if dropped else self.merged
            if merge is not None and not self._crossed(merge):
                tensor, order = call.output[0], slice(None) if self.columns is None else self.columns
                output = as_numpy(tensor).astype(np.float32).reshape(merge.shape)
                arrays.update(merge=merge[:, order], output=output[:, order])
                stand = stand_of(call, "query") if len(parts) == 1 else None      # (blocks are parts of a row)
                rows_of_all = tensor.dim() > 2 and (stand is None or stand.sizes["sentences"] >= count) and (
                    queries > 1 or count in tensor.shape[:-1])      # (a token alone with its window is no sentence)
                self.facts["row_length"] = tensor.shape[-2] if rows_of_all else 0
            elif call.fused_output is not None and call.context_groups:
                arrays["output"] = side_by_side(as_numpy(call.context_of(call.fused_output))[:kept])
        self._take_mask(sentences, rows)
        self._take_given(rows)
        if intended is not None and rows is None:
            arrays["intended"] = intended.reshape(-1, 1, *intended.shape[-2:])[:len(sentences)]
        stands = {role: stand_of(call, role) for role in ("query", "key")} if queries < keys and len(parts) == 1 else {}
        at, _, whole = tokens_of(call, {role: stand for role, stand in stands.items() if stand is not None})
        held = int(at[-1]) + 1      # the rest of a cache is empty yet, or of keys behind some of the queries
        if 0 < held < keys == whole and not allowed_of(call)[..., held:].any():
            for name in arrays:
                if name.startswith(("key", "value")):
                    arrays[name] = arrays[name][:, :held]
                elif name.startswith(("attentions", "intended", "step.")):
                    arrays[name] = arrays[name][..., :held]
        arguments = self.facts["arguments"] = []      # of calls that are too large their names alone
        for name, mask in (*call.masks, *(() if call.masks else call.given)):
            if few and mask.numel():
                arrays[f"argument.{len(arguments)}"] = as_numpy(mask)
            used = re.search(_NO_KEYS, name) or any(
                mask.numel() == one.numel() and np.array_equal(as_numpy(mask).ravel() != 0, as_numpy(one).ravel() != 0)
                for one in elsewhere)
            number = masks.setdefault((mask.shape, mask.data_ptr()), len(masks))
            arguments.append([name, str(number), "used" * bool(used)])
        self._take_roles()

    def _crossed(self, merge: Array) -> bool:
        """Whether heads are put together in the order of the values' heads, which is not that of the weights."""
        stands, (_, heads, queries, _) = [stand_of(self.call, role) for role in ("query", "value")], self.call.shape
        found = merge[0] // (queries * (merge.shape[1] // heads)) % heads
        in_order = (found == np.arange(merge.shape[1]) // (merge.shape[1] // heads)).all()
        return not in_order and None not in stands and stands[0].differs(stands[1], "heads")

    def _columns(self) -> Array | None:
        """Where the columns of each head stand, if not side by side, but in one order from the split to the merge."""
        found = [self.call.index_of(role) for role in _SIDES.values()] if len(self.parts) == 1 else [None]
        merged = None if None in found else self.merged
        if merged is None:
            return None
        orders = [np.unique(index[0, :, 0] % base.shape[-1], return_inverse=True)[1].ravel() for index, base in found]
        (_, heads, queries, _), width = self.call.shape, merged.shape[1]
        at = merged[0] // (queries * (width // heads)) % heads * (width // heads) + merged[0] % (width // heads)
        same = all(np.array_equal(one, np.argsort(at)) for one in orders)
        return orders[0] if same and (np.diff(orders[0]) < 0).any() else None

    def _take_inputs(self, operands: Mapping[str, Array | None], kept: int, swapped: bool) -> None:
        """What should have met, from the projections. `swapped`: queries are named keys, and keys queries."""
        call = self.call
        self.columns = self._columns()
        for role, values in operands.items():
            if values is None:
                continue
            name = {"query": "key", "key": "query"}.get(role, role) if swapped else role
            self.arrays[name] = side_by_side(values[:kept])
            found = call.index_of(role) if len(self.parts) == 1 and self.columns is None else None
            if found is None:
                continue
            index, base, width = found[0][:kept], found[1], found[1].shape[-1]
            turned = any(step.kind in ("turned", "normed") for step in call.node(role).path(("linear",)))
            slip = base.info if base.kind == "linear" and not turned else None
            if slip is not None and slip.x is not None:     # not as its module means it
                x, weight = as_numpy(slip.x).astype(np.float32), as_numpy(slip.weight).astype(np.float32)
                weight = weight if slip.rows is None else weight[slip.rows]
                rows, columns = np.stack([np.unique(one // width) for one in index]), np.unique(index % width)
                if weight.shape[0] >= len(columns) == self.arrays[name].shape[2] and x.shape[-1] == weight.shape[1]:
                    self.arrays[name] = x.reshape(-1, x.shape[-1])[rows]
                    self.arrays[name[0] + "_proj.weight"] = weight[columns]
                    if slip.bias_of is not None:
                        self.arrays[name[0] + "_proj.bias"] = as_numpy(slip.bias_of).astype(np.float32)[columns]
                    continue
            again = [recovered(*one, width) for one in zip(index, values)]
            if all(one.shape == self.arrays[name].shape[1:] and not np.isnan(one).any() for one in again):
                self.arrays[name] = np.stack(again)

    def _take_roles(self) -> None:
        """What was used as query, key and value, and which weights were not used."""
        call, weights = self.call, _named_weights(self.call.modules, self.call.held)
        self.facts["roles"] = [[role, call.named(role) or ""] for role in _SIDES.values()] if weights else []
        unused = self.facts["unused"] = []
        roots = [call.node(role).path(MADE)[0] for role in _SIDES.values()]
        found = [call.index_of(role) for role in ("query", "key")] if roots[0] is roots[1] else [None]
        self.facts["shared"] = None not in found and np.array_equal(found[0][0], found[1][0])
        used, whole = [call.named(role) for role in _SIDES.values()], getattr(roots[0].info, "weight", None)
        packed = all(root.kind == "linear" and root.info.weight is whole for root in roots) and len(roles_of(
            roots[0].info.name)) == 3
        for role, other in zip(("query", "key"), used) if packed and None not in used else ():
            if role not in used:      # a third of a packed weight
                parts = (f"{roots[0].info.name}[{'query key value'.split().index(one)}]" for one in (role, other))
                unused.append([role, *parts])
        for role, (name, parameter) in weights.items():
            root = call.node(role).path(MADE)[0] if role != "output" else NOTHING
            other = root.info.name if root.kind == "linear" and roles_of(root.info.name) not in ((), (role,)) else ""
            width = parameter.shape[parameter.dim() == 2]
            plain = root.kind == "source" and len(root.shape) <= 3 and root.shape[-1] == width
            last = role == "output" and call.context is not NOTHING and len(self.parts) == 1 and not call.held
            if id(parameter) not in call.called and (other or plain or last):
                unused.append([role, name, re.sub(r"\.?weight$", "", other)])

    def _take_given(self, rows: Array | None) -> None:
        """What ran and follows from no input: positions, norms, soft caps, sinks, what a cache held."""
        call, facts, paths = self.call, self.facts, {role: self.call.node(role).path(MADE) for role in ("query", "key")}
        kinds = {step.kind if step.info != "scale" else "scale" for path in paths.values() for step in path}
        kinds |= {"turned" for path in paths.values() if path[0].cache and path[0].cache[4]}
        normed = [[step for step in path if step.kind == "normed" and step.info != "scale"] for path in paths.values()]
        seen = "seen" * ([[step.of for step in some][-1:] for some in normed] == [[True], [True]])
        facts["given"] = [[name, how] for kind, name, how in (("normed", "norms", seen), ("turned", "positions", ""))
                          if kind in kinds]
        steps = [step for path in paths.values() for step in path]
        learned = any(step.info == "scale" or step.kind == "scale" and step.kept for step in steps)
        unit = all(any(step.info == "unit" for step in some) for some in normed)
        facts["given"] += [["scale", "learned" if learned else "unit"]] if learned or unit else \
            [["scale", "free"]] if self._is_free() else \
            [["scale", "meant"]] if not (self.scaled or call.is_scaled()) and call.is_scale_meant() else []
        projected = {"q_proj.weight", "k_proj.weight"} & set(self.arrays)
        for role in paths if "turned" in kinds and rows is None and not projected else ():
            array, turned = call.joined(lambda part: part.operand_before(role)), self.arrays.get(role)
            if array is not None and turned is not None and array[0].size == turned[0].size:
                self.arrays[role + ".before"] = side_by_side(array[:len(turned)])
        facts["new_at"], facts["new_keys"] = call.new_rows() if len(self.parts) == 1 else (0, 0)
        if call.inputs and not call.goes_on:
            facts["given"].append(["sides", *call.inputs[1]])
        for at, step in enumerate(call.path):
            if step.kind == "cap":
                facts.setdefault("softcap", factor_of(call.path[at:]))
            elif step.kind == "sink":
                sinks = as_numpy(step.info[1]).reshape(-1)
                self.arrays.setdefault("sinks", np.resize(sinks[:: max(1, len(sinks) // call.heads)], call.heads))

    def _is_free(self) -> bool:
        """Whether another scale than 1/√d_k, or none, may be meant: one head whose values are its keys, or what those
        were projected from, as in Luong's attention; and none in an image, as in non-local blocks."""
        call, roots = self.call, [self.call.node(role).path(MADE)[0] for role in _SIDES.values()]
        usual = (abs(call.scale * self.facts["d_k"] ** power - 1) < 1e-3 for power in (0.5, 1, -0.5))      # and slips
        if len(self.parts) > 1 or call.heads > 1 or self.scaled or any(usual):
            return False
        key, value = roots[1:]
        of_key = key.info.made.path(("source",))[0] if key.kind == "linear" else NOTHING
        own = value.kind == "source" and value.cache is None and (value in (key, of_key) or call.shape[2] == 1 and all(
            root.kind == "source" and root.cache is None for root in roots))      # (one query, and a memory)
        own = own or value is key and not _named_weights(call.modules)
        images = all(root.kind == "linear" and root.info.weight.dim() == 4 for root in roots)
        return own or images and call.scale == 1

    def _take_mask(self, sentences: Sequence[int], rows: Array | None) -> None:
        """What the steps before and after the softmax have of each cell, and the numbers they do it with."""
        call, steps = self.call, self.facts.setdefault("steps", [])
        for step, cells, value in call.mask_parts([*call.path, *call.changes()], sentences, rows):
            name, after = f"step.{len(steps)}", "after " if step in call.weight_path else ""
            steps.append([after + step.kind, str(float(value)), str(float(step.info[1])), step.of or ""])
            for axis in (0, 1):         # along which nothing differs are 1
                cells = cells.take([0], axis) if (cells == cells.take([0], axis)).all() else cells
            self.arrays[name] = np.ascontiguousarray(cells)
            call.sites.update({name: step.site} if after else {name: step.site, "mask_": step.site})


def _last(kinds: Sequence[str], *paths: Sequence[Node]) -> Site | None:
    return next((step.site for path in paths for step in reversed(path) if step.kind in kinds), None)


def _site_of(call: Call, code: str, role: str) -> Site | None:
    """The line of the caller's code that a mistake is about: of its step, or of the longest known start of its code."""
    softmax = call.softmax.site
    node = call.node(role if role in ("key", "value") else "query")
    context = call.context.site or softmax
    merge = call.sites.get("merge_") or context
    changed, made = next((step.site for step in call.changes()[::-1]), None), node.path(MADE)[0]
    plain = made.kind == "source" and (first_reshaping(node) or (context if role == "value" else call.path[0].site))
    mask = call.sites.get("mask_") or _last(["fill", "add", "times"], call.path) or changed or softmax
    scale = _last(["scale"], call.path, *(call.node(one).path(MADE) for one in ("query", "key")))
    sites = {"": call.path[0].site, "scale_": scale, "query_already": scale, "mask_after": changed or softmax,
             "weights_changed": changed or softmax, "dropout": _last(["drop"], call.weight_path, call.path) or softmax,
             **dict.fromkeys(("mask_missing", "causal_", "padding_", "empty_rows_nan", "softmax_"), softmax),
             **dict.fromkeys(("mask_", "blocked_", "empty_", "diagonal"), mask), "merge_": merge, "values_of_": context,
             "weights_transposed": context, "softmax_missing": context, "heads_": first_reshaping(node),
             "projection_": merge if role == "output" else made.site, "projection_missing": role != "output" and plain,
             "roles_swapped": call.context.site or call.path[0].site, **call.sites}
    named = max((name for name, site in sites.items() if site and f"{code} {role}".startswith(name)), key=len)
    return call.sites.get(role) or sites[named]


def _config_of(expect: Any, modules: Sequence[Any]) -> dict[str, float]:
    """The numbers of a config: a dict, an object of Hugging Face, a file, its folder; None: of the outermost module."""
    for module in modules if expect is None else ():
        file = getattr(sys.modules.get(type(module).__module__), "__file__", None) or ""
        beside, config = os.path.join(os.path.dirname(file), "config.json"), getattr(module, "config", None)
        if expect is None and (hasattr(config, "to_dict") or isinstance(config, Mapping) or os.path.isfile(beside)):
            expect = config or beside
    if isinstance(expect, (str, os.PathLike)):
        path = Path(expect, "config.json") if os.path.isdir(expect) else Path(expect)
        with refused(str(path)):
            expect = json.loads(regular(path).read_text(encoding="utf-8"))
    fields = expect.to_dict() if hasattr(expect, "to_dict") else {} if expect is None else expect
    require(isinstance(fields, Mapping), "expect", "a dict, a config or a config.json", type(expect).__name__)
    more = [fields[name] for name in ("rope_parameters", "attn_config") if isinstance(fields.get(name), Mapping)]
    tables = [one for module in modules for name, one in module.named_parameters()
              if name.endswith("relative_attention_bias.weight")] if not fields else []
    plain = tables and not any(re.search(r"\b[qkvo]\.bias$", name) for name, _ in modules[0].named_parameters())
    t5 = {"relative_attention_num_buckets": len(tables[0]), "d_kv": 1} if plain else {}      # as its weights are named
    unused = {"sliding_window"} if fields.get("use_sliding_window") is False else set()
    return {name: value for part in [t5, *more, fields] for name, value in part.items() if name not in unused
            and isinstance(value, (int, float)) and np.isfinite(value)}


class Page:
    """A page that still computes: `html`, `save(path)`; in a notebook it shows itself, shut off from the notebook."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | Path) -> None:
        """Written beside and renamed."""
        with written_whole(path) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        size = len(self.html.encode())
        if size > _MOST_PAGE:
            return (f"<p>headlight: a page of {size / 2**20:.0f} MB is too large for a notebook (at most "
                    f"{_MOST_PAGE >> 20} MB): show fewer layers or heads, e.g. <code>show(…, only=\"0.1,0.2\")</code>, "
                    "or <code>page.save(\"page.html\")</code>.</p>")
        return ('<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" title="Headlight" '
                f'srcdoc="{_html.escape(self.html)}"></iframe>')


class Still(Page):
    """A picture, `png` beside `html`: of all heads where a page of them is too large for a notebook, or of sums."""

    def __init__(self, png: bytes, too_many: bool = True) -> None:
        line = ("<p>headlight: too many weights for a page in a notebook: <code>show(…, only=\"0.1,0.2\")</code> is "
                "one of fewer heads.</p>")
        super().__init__('<img style="max-width:100%" '
                         f'src="data:image/png;base64,{base64.b64encode(png).decode()}">{line if too_many else ""}')
        self.png = png

    def _repr_html_(self) -> str:
        return self.html

    def _repr_png_(self) -> bytes:
        return self.png


def page(text: Any = ..., source: Any = None, **options: Any) -> Page:
    """The page that `headlight page` makes of a text, or of arrays as `show` takes them; `options` are its own."""
    return Page(_answer("page", _asked_of(text, source), source, options, "-o", "-").decode())


@refused("show")
def show(attentions: Any, tokens: Any = None, target_tokens: Any = None, sentence: int | None = None,
         **options: Any) -> Page | None:
    """Shows attention that a program holds, in any of the forms of docs/arrays.md: in a notebook the page, inline;
    elsewhere the window. `tokens` name the keys' side, `target_tokens` the queries' where it is another one; a list of
    lists names each sentence's. `sentence`, `step`, `axes="batch,heads,T,S"`, `array`: which part is meant; further
    `options` as of `headlight page`. In a notebook weights that are too many for a page are a picture of all heads,
    those of `only=` a page; so are the strongest heads, which are colours. Without a display: Error."""
    options.update(tokens=tokens, target_tokens=target_tokens, sentence=sentence)
    names = ("tokens", "target_tokens", "sentence", "step", "array", "axes", "grid")
    choice = {name: options.pop(name, None) for name in names}
    if not hasattr(notebook_shell(), "kernel"):
        open_window(held_file(attentions, choice), words_of_options(options, ""))
        return None
    with held_file(attentions, choice) as path:
        reduced, strongest = "reduce" in options, str(options.get("reduce", "")).startswith("strongest")
        if not strongest and (options.get("only") or os.path.getsize(path.split("#")[0]) < _MOST_HELD):
            return page(None, path, **options)
        looks = {name: options[name] for name in ("theme", "language", "reduce") if name in options}
        looks.update({} if reduced else {"view": "glance"})
        with Folder() as folder:
            name = os.path.join(str(folder), "heads.png")
            return Still(figure(None, path, output=name, **looks).read_bytes(), not reduced)


@refused("log")
def log(step: int, seen: Any, folder: str | Path = "headlight-log", sentence: int = 0, tokens: Words = None) -> Path:
    """Keeps attention of a training step, what `watch` saw or `show` takes, as `folder/step-000100.safetensors`."""
    require(step >= 0, "log", "a step of 0 or more", step)
    if hasattr(seen, "stacks"):
        arrays = seen.stacks(sentence)
    else:
        found = export(seen, sentence=sentence or None, tokens=tokens)
        arrays = {name: array for name, array in found.items() if name in ("attentions", *STACKS)}
    os.makedirs(folder, exist_ok=True)
    path = Path(folder) / f"step-{step:06d}.safetensors"
    write_safetensors(path, arrays, {"step": str(step), **token_metadata(arrays, tokens, None)})
    return path


class Seen(Tracer, Sequence):
    """`watch(module=None, keep=None)` follows the attention that runs inside a `with` block, of `module` alone, in this
    thread: a sequence of `Call`; `with seen:` again goes on. Caught are the attention of torch.nn, fused attention, and
    what is written by hand: a softmax of a product of two arrays. `keep`: limits (`Keep`), or a number of calls."""

    ended = Enough

    def sequence(self) -> list[Call]:
        """The calls; heads that were computed one by one are one."""
        return [call for call in self._calls if call.whole and call._parts[0] is call]

    def __reduce__(self) -> Any:
        raise Error("seen: expected seen.save(path) or seen.check(), which can be sent and kept, found pickle")

    def __len__(self) -> int:
        return len(self.sequence())

    def __getitem__(self, index: Any) -> Any:
        chosen, part = self.sequence()[index], Seen(self._module, self.keep)
        part._calls, part._notes, part._operations = chosen, list(self._notes), self._operations
        return part if isinstance(index, slice) else chosen

    def __repr__(self) -> str:
        lines = [f"{index}: {call!r}" for index, call in enumerate(self.sequence()[:20])]
        more = len(self) - len(lines)
        return "\n".join([*lines, *([f"… {more} more"] if more > 0 else []), *self.notes()])

    def all_notes(self) -> list[Sequence[str]]:
        """As Tracer._note has them."""
        notes = list(self._notes)
        if self._left_out:
            name, most = "left_out" if self._left_out > 1 else "left_out_one", f"{self.keep.memory >> 20:,}"
            notes.append((name, f"{self._left_out:,}", str(self.keep.calls), most))
        elif not self.sequence():
            notes.append(("none_without_torch",) if torch_module() is None else ("none_yet",) if not self._blocks else
                         ("none_among", f"{self._operations:,}"))
        return notes

    def notes(self, language: str = "en") -> list[str]:
        """What was not followed, a line each; nothing where all is there."""
        notes = self.all_notes()
        return Report([], language, notes).unchecked if notes else []

    def _of_sentence(self, sentence: int) -> list[Array]:
        """The weights of one sentence in every call."""
        layers = [call.weights() for call in self.sequence()]
        if not layers:
            raise Error((self.notes() or ["no attention seen"])[-1])
        most = max(map(len, layers))
        require(0 <= sentence < most, "seen", f"a sentence below {most}", sentence)
        return [layer[min(sentence, len(layer) - 1)] for layer in layers]      # of a batch of one: of all sentences

    @refused("attentions")
    def attentions(self, sentence: int = 0) -> Array:
        """(layers, heads, T, S): the weights of one sentence in every call. Error where calls differ in shape."""
        return layers_of(self._of_sentence(sentence), "seen (seen[0:2] chooses calls of one shape)")

    def stacks(self, sentence: int) -> dict[str, Array]:
        """One stack, or those of encoder, decoder and cross-attention where a call's keys are of another sequence."""
        sizes = [call.shape[2:] for call in self.sequence()]
        if len(set(sizes)) == 1 or all(queries == keys for queries, keys in sizes):
            return {"attentions": self.attentions(sentence)}
        stacks: dict[str, list[Array]] = {name: [] for name in STACKS}
        for layer, (queries, keys), after in zip(self._of_sentence(sentence), sizes, [*sizes[1:], (0, 0)]):
            decoder = after[0] != after[1] and after[0] == queries      # cross-attention of the same queries follows
            name = "cross_attentions" if queries != keys else "decoder_attentions" if decoder else "encoder_attentions"
            stacks[name].append(layer)
        return {name: layers_of(layers, name) for name, layers in stacks.items() if layers}

    @refused("save")
    def save(self, path: str | Path, sentence: int = 0, tokens: Words = None, target_tokens: Words = None) -> None:
        """A tensors file (.safetensors or .npz): weights of one sentence of every call; queries, keys and values."""
        kind, arrays = os.path.splitext(path)[1], self.stacks(sentence)
        metadata = token_metadata(arrays, tokens, target_tokens)
        for name, role in _SIDES.items() if "attentions" in arrays else ():
            parts = [getattr(call, role) for call in self.sequence()]
            if all(part is not None for part in parts) and len({part.shape[1:] for part in parts}) == 1:
                arrays[name] = np.stack([part[min(sentence, len(part) - 1)] for part in parts]).astype(np.float32)
        require(kind in (".npz", ".safetensors"), "save", "a name that ends in .safetensors or .npz", f"'{path}'")
        if kind == ".safetensors":
            return write_safetensors(path, arrays, metadata)
        write_npz(path, {**arrays, **{name: np.array(json.loads(words)) for name, words in metadata.items()}})

    def show(self, sentence: int = 0, tokens: Words = None, target_tokens: Words = None) -> Any:
        """In a notebook the page, inline; elsewhere the window."""
        return show(self, tokens, target_tokens, sentence)

    def _repr_html_(self) -> str | None:
        try:
            return page(self)._repr_html_() if len(self) else f"<pre>{_html.escape(repr(self))}</pre>"
        except Error as error:
            return "<pre>" + _html.escape(f"{self!r}\n{error}") + "</pre>"

    @refused("check")
    def check(self, mask: Any = None, expect: Any = None, language: str = "en") -> Report:
        """Every call against softmax(q·kᵀ/√d_k + mask)·v, computed by the program. What was meant where the code cannot
        show it: `mask`, which cells may be attended to (T, S) or (sentences, T, S); `expect`, a config as a dict, an
        object of Hugging Face or the path of a config.json, by default of the watched module. `language`: en or zh."""
        intended = None if mask is None else as_numpy(mask).astype(bool)
        calls, notes, captured = self.sequence(), self.all_notes(), []
        around = [module for module in (self._module, *(calls[0].modules[::-1] if calls else ())) if module is not None]
        config, masks, said = _config_of(expect, around), {}, []      # type: Any, dict[Any, int], list[Any]
        for number, (of, again, first) in enumerate(self.again):
            with contextlib.suppress(Exception), np.errstate(all="ignore"):      # a module that cannot run again
                of_all = None if of in [one for one, _, _ in self.again[:number]] else _named_weights
                for index, *text in leaks(again, lambda: Seen(keep=self.keep), of_all):
                    said.append((calls.index(first) + index, *text))
                first.called.difference_update(again.idle)
        sorted_masks = {name for _, again, _ in self.again for name in again.apart}
        elsewhere = [one for _, again, _ in self.again for one in again.elsewhere]
        for at, call in enumerate(calls):
            try:
                one = _Captured(call, self.keep.sentences, intended, masks, any(
                    other.site == call.site and other.is_scaled() for other in calls), elsewhere)
                said += [(at, call.where, *(("mask_sorted", text[1]) if text[0] == "mask_of_other_sentences" and
                                            text[1] in sorted_masks else text))
                         for text in said_of(call, _named_weights(call.modules))]
                if "num_key_value_heads" in config:
                    one.facts["meant"].remove(["groups_in_blocks"])
                captured.append((one.facts, one.arrays))
            except Exception as error:      # numbers that cannot be had, steps that cannot be made again
                captured.append(({"where": call.where}, {}))
                notes.append(("unread", call.where, first_line(str(error))))
        for found in (pasts, masks_dropped):
            with contextlib.suppress(Exception):      # of caches whose numbers cannot be had
                said += found(calls)
        given = [note for call in calls for part in call._parts for note in part.notes]
        return Report(captured, language, [*given, *notes], config, lambda one: _site_of(
            calls[one["call"]], one["code"], one.get("role", "")), said, list(dict.fromkeys(self.compared)))


class _Tracker:
    """Takes the place of labml's tracker in a model; what `debug` is given is kept until the next step writes it."""

    def __init__(self) -> None:
        self.folder: str | Path = "headlight-log"
        self.step, self.every = 0, 1
        self._layers: list[Array] = []

    def debug(self, name: str, value: Any) -> None:
        """Of a layer, (i, j, b, h) as that tutorial has it, or (b, h, i, j): the axis that sums to 1 decides."""
        array = as_numpy(value)
        if self.step % self.every or array.ndim != 4 or array.dtype.kind != "f":
            return
        if np.allclose(array.sum(3), 1, atol=1e-2):
            self._layers.append(array[0])
        elif np.allclose(array.sum(1), 1, atol=1e-2):
            self._layers.append(array[:, :, 0].transpose(2, 0, 1))

    add = lambda *_, **__: None      # of scalars, which are not attention
    def set_global_step(self, step: int) -> None:
        """From here on it is this step; what was seen of the one before is written."""
        self.save()
        self.step = int(step)

    add_global_step = lambda self, increment=1: self.set_global_step(self.step + increment)

    def save(self, *arguments: Any, **_: Any) -> None:
        """Writes what was seen; a number first is the step."""
        self.step = arguments[0] if arguments and isinstance(arguments[0], int) else self.step
        layers, self._layers = self._layers, []
        if layers:
            same = [layer for layer in layers if layer.shape == layers[0].shape]
            log(self.step, {"attentions": np.stack(same)}, self.folder)


tracker = _Tracker()
