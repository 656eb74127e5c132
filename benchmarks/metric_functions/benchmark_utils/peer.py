"""What every peer does alike: hold the data, hand out fresh copies, and compute one measure."""

import time

import numpy as np
from benchopt import BaseSolver


class Peer(BaseSolver):
    """A way to compute some of the measures.

    A peer defines ``measures`` and ``compute()``, which is what the clock sees. ``convert()``
    puts the data into the form that the peer asks for; it is done once and timed by itself.
    ``why`` explains, by measure, values that are known to differ on tied scores; the key
    ``"always"`` explains those that differ on any.
    """

    sampling_strategy = "run_once"

    measures = ()
    layouts = ("single", "ragged", "shuffled", "dense")
    max_rows = None  # longer data would take minutes
    is_reference = False  # computes something else, to have its time beside the others
    why = {}

    def skip(self, measure, y_true, y_score, qid, offsets):
        """Leave out what the peer does not have, or would take minutes for."""
        if measure not in self.measures:
            return True, f"does not have {measure}"
        layout = layout_of(y_score, qid, offsets)
        if layout not in self.layouts:
            return True, f"not run on {layout} data"
        if self.max_rows and y_score.size > self.max_rows:
            return True, f"not run on more than {self.max_rows:,} rows"
        return False, None

    def set_objective(self, measure, y_true, y_score, qid, offsets):
        """Keep the data, and convert it; neither is timed with the measure."""
        self.measure = measure
        self.given = y_true, y_score, qid
        self.offsets = offsets
        self.layout = layout_of(y_score, qid, offsets)
        self.found = None
        self.refresh()
        start = time.perf_counter()
        self.convert()
        self.converting = time.perf_counter() - start

    def convert(self):
        """Bring the data into the peer's own form."""

    def refresh(self):
        """Copy the data: no call sees an array that an earlier one has seen."""
        copies = [None if array is None else array.copy() for array in self.given]
        self.y_true, self.y_score, self.qid = copies

    def warm_up(self):
        """Import and compile whatever the first call needs, on a few rows; not timed."""
        kept = self.given, self.offsets
        (y_true, y_score, qid), offsets = kept
        if y_score.ndim == 2:
            few = slice(0, 50)
            offsets = offsets[:51]
        elif offsets is not None:
            offsets = offsets[:51]
            few = slice(0, int(offsets[-1]))
        else:
            few = slice(0, 2_000)
        given = y_true[few], y_score[few], None if qid is None else qid[few]
        self.set_objective(self.measure, *given, offsets)
        self.compute()
        self.given, self.offsets = kept

    def run(self, _):
        """Compute the measure."""
        self.found = self.compute()

    def get_result(self):
        """Return what the judge needs."""
        return {"found": np.nan if self.is_reference else self.found}

    def compute(self):
        """Return the value of the measure."""
        raise NotImplementedError

    def per_query(self):
        """Return the value of each query by ascending id, or None; not timed."""
        return None

    def known_reason(self, tied):
        """Return why a value that differs does so, if that is known."""
        reasons = dict(self.why)
        return reasons.get(self.measure if tied else None, reasons.get("always", ""))


def layout_of(y_score, qid, offsets):
    """Name the layout of the data."""
    if y_score.ndim == 2:
        return "dense"
    if qid is None:
        return "single"
    return "shuffled" if offsets is None else "ragged"


def mean_of_lists(function, y_true, y_score, offsets):
    """Mean of a function of one list over the lists, those of which it is NaN left out."""
    starts, ends = offsets[:-1].tolist(), offsets[1:].tolist()
    values = [
        function(y_true[start:end], y_score[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]
    return float(np.nanmean(values))
