"""What a call returned as plain values, and how two such values differ."""

import contextlib
import functools
import inspect
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator

import sklearn_rank

PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
TIME = re.compile(r"_time$|_time_|seconds|refit_time|_times$")
TOLERANCE = 1e-12


def text_of(value):
    """A text without addresses, tracebacks, names of functions and modules, order of sets."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x", str(value))
    text = re.sub(r"<(?:bound method|function) (?:<\w+>|[^>])*>", "<function>", text)
    text = re.sub(r"(?<=among \{)[^}]*", lambda names: str(sorted(names[0].split(", "))), text)
    text = re.sub(r"Traceback .*?\n(?=\S)", "", text, flags=re.DOTALL)
    text = re.sub(r"\w+\.(\w+\(\) (?:got|missing|takes) )", r"\1", text)
    text = re.sub(r"sklearn_rank(?:\.\w+)*\.(?=\w)", "sklearn_rank.", text)
    return re.sub(re.escape(tempfile.gettempdir()) + r"/\w+", "TMP", text)


def plain(value, depth=0):
    """Nested dict, list, array and text of any value."""
    if isinstance(value, str):
        return text_of(value) if type(value) is str else str(value)
    if isinstance(value, PLAIN):
        return value
    if depth > 8:
        return f"<{type(value).__name__}>"
    deeper = functools.partial(plain, depth=depth + 1)
    if isinstance(value, np.ma.MaskedArray):
        return {"data": deeper(value.filled(0)), "mask": np.ma.getmaskarray(value)}
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"object array": deeper(value.tolist())}
        if value.dtype.names:
            return {name: deeper(value[name]) for name in value.dtype.names}
        return np.array(value)
    if sparse.issparse(value):
        return {"sparse": value.format, "shape": value.shape, "dense": value.toarray()}
    if isinstance(value, pd.Series | pd.Index):
        return {"name": deeper(value.name), "values": deeper(value.to_numpy())}
    if isinstance(value, pd.DataFrame):
        columns = {str(name): deeper(value[name].to_numpy()) for name in value}
        return {"index": deeper(value.index.to_numpy()), **columns}
    if isinstance(value, Mapping):
        return {text_of(k): deeper(v) for k, v in value.items() if not TIME.search(str(k))}
    if isinstance(value, set | frozenset):
        return sorted(map(text_of, value))
    if isinstance(value, tuple | list | Iterator):
        return [deeper(part) for part in value]
    if isinstance(value, functools.partial) or inspect.isroutine(value) or isinstance(value, type):
        return f"<{getattr(value, '__name__', 'partial')}>"
    return _object(value, deeper)


def _object(value, deeper):
    kind = type(value)
    module = kind.__module__.split(".")[0]
    if module == "sklearn_rank" or isinstance(value, BaseEstimator):
        texts = {"repr": _text(repr, value), "str": _text(str, value)}
        if hasattr(value, "_repr_html_") and not isinstance(value, BaseEstimator):
            texts["html"] = text_of(value._repr_html_())
        return {**texts, **_attributes(value, deeper)}
    if module == "matplotlib":
        return _drawing(value, deeper)
    if kind.__name__ == "Booster" and hasattr(value, "model_to_string"):
        return value.model_to_string().partition("\nparameters:")[0]
    return f"<{kind.__name__}>"


def _text(function, value):
    try:
        return text_of(function(value))
    except Exception as error:
        return _raised(error)


def _attributes(value, deeper):
    found = {}
    parameters = value.get_params(deep=False) if isinstance(value, BaseEstimator) else ()
    for name in dir(value):
        if name.startswith("_") or TIME.search(name) or name in parameters:
            continue
        try:
            attribute = getattr(value, name)
        except Exception as error:
            found[name] = _raised(error)
            continue
        if name == "conventions":
            attribute = list(attribute)
        if callable(attribute) and not hasattr(attribute, "__dict__"):
            continue
        if not inspect.isroutine(attribute):
            found[name] = deeper(attribute)
    return found


def _drawing(value, deeper):
    """Texts and data of axes, lines and areas."""
    if hasattr(value, "get_xydata"):
        return {"label": value.get_label(), "xy": deeper(value.get_xydata())}
    if hasattr(value, "get_paths"):
        vertices = [deeper(path.vertices) for path in value.get_paths()]
        offsets = deeper(np.ma.filled(value.get_offsets(), np.nan))
        return {"label": value.get_label(), "vertices": vertices, "offsets": offsets}
    if not hasattr(value, "get_xlabel"):
        return f"<{type(value).__name__}>"
    legend = value.get_legend()
    return {
        "texts": [value.get_title(), value.get_xlabel(), value.get_ylabel()]
        + [text.get_text() for text in value.texts]
        + [text.get_text() for text in (legend.get_texts() if legend else ())],
        "ticks": [text.get_text() for text in value.get_yticklabels()],
        "limits": deeper([value.get_xlim(), value.get_ylim()]),
        "drawn": deeper([*value.lines, *value.collections]),
    }


def _raised(error):
    notes = getattr(error, "__notes__", [])
    return {"raised": type(error).__name__, "message": text_of("\n".join([str(error), *notes]))}


def outcome(call):
    """What a call in an empty folder returned or raised, and its warnings, as plain values."""
    np.random.seed(0)  # noqa: NPY002 - what random_state=None draws from
    with warnings.catch_warnings(record=True) as caught, contextlib.ExitStack() as stack:
        warnings.simplefilter("always")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(contextlib.chdir(folder))
        printed = io.StringIO()
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        try:
            result = plain(call())
        except Exception as error:
            result = _raised(error)
    inside = str(sklearn_rank.__path__[0])
    told = sorted(
        f"{w.category.__name__}: {text_of(w.message)}"
        + " (inside the package)" * w.filename.startswith(inside)
        for w in caught
    )
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return {"result": result, "warnings": told, "printed": _lines(printed.getvalue())}


def _lines(text):
    """The different lines of a progress report without numbers: how many there are varies."""
    lines = {re.sub(r"[-+]?\d\S*", "#", line.strip()) for line in text_of(text).splitlines()}
    return sorted(line for line in lines if "compiles" not in line)


def differences(before, after, where=""):
    """Yield a line for each place in which two plain values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            place = f"{where}.{key}".removeprefix(".")
            if key not in after:
                yield f"{place} is gone"
            elif key not in before:
                if after[key] is not None:
                    yield f"{place} is new"
            else:
                yield from differences(before[key], after[key], place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, parts in enumerate(zip(before, after, strict=True)):
            yield from differences(*parts, f"{where}[{i}]")
    elif type(before) is not type(after) or not _equal(before, after):
        yield f"{where}: {_short(before)} -> {_short(after)}"


def _equal(before, after):
    if isinstance(before, np.ndarray | np.generic | float | complex):
        before, after = np.asarray(before), np.asarray(after)
        if before.shape != after.shape or before.dtype != after.dtype:
            return False
        if before.dtype.kind in "fc":
            return np.allclose(before, after, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        return np.array_equal(before, after)
    return before == after


def _short(value):
    text = " ".join(repr(value).split())
    return text if len(text) <= 300 else f"{text[:200]} ... {text[-90:]} ({type(value).__name__})"
