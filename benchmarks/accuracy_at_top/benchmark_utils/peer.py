"""What every peer does alike: hold the problems, and walk down a ladder of tolerances."""

from benchopt import BaseSolver
from benchopt.stopping_criterion import StoppingCriterion

TARGET_GAP = 1e-6


class CertifiedGap(StoppingCriterion):
    """Stop at the first tolerance whose largest certified gap is small enough."""

    def __init__(self, strategy=None, key_to_monitor="value", minimize=True):
        super().__init__(strategy=strategy, key_to_monitor=key_to_monitor, minimize=minimize)

    def check_convergence(self, objective_list):
        """Stop at the target, or when the ladder has come to its end."""
        last, before = objective_list[-1], objective_list[:-1][-1:]
        ended = any(entry["stop_val"] == last["stop_val"] for entry in before)
        stop = last[self.key_to_monitor_] <= TARGET_GAP or ended
        return stop, float(stop)


class Peer(BaseSolver):
    """A way to solve the problems of some pivots to a tolerance of its own kind.

    A peer defines ``solve(tolerance)``, which returns the arguments of the judge's
    ``evaluate_result``: ``coef``, one row per candidate, and where it has them ``dual``
    (multipliers), ``claimed`` (its own pairs of primal and dual value), ``rows`` (the candidates
    that ``coef`` is of) and ``inner_seconds`` (time inside the compiled solver).
    """

    sampling_strategy = "tolerance"
    stopping_criterion = CertifiedGap()

    # Tolerances to try, loosest first: the first whose gap is certified is the one measured.
    tolerances = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
    # Which objectives it runs on: "sample" (some candidates), "every", or both.
    scopes = ("sample",)

    def skip(self, X, y, cost, C, candidates, scope):
        """Leave out peers too slow, or unable, to do what is asked."""
        if scope not in self.scopes:
            return True, f"runs only on candidates={' or '.join(self.scopes)}"
        return False, None

    def set_objective(self, X, y, cost, C, candidates, scope):
        """Keep the problems; not timed."""
        self.X, self.y, self.cost, self.C = X, y, cost, C
        self.candidates, self.scope = candidates, scope
        self.result = None
        self.set_up()

    def set_up(self):
        """Do what does not depend on the candidate; not timed."""

    def warm_up(self):
        """Compile and import whatever the first problem needs; not timed."""
        candidates, self.candidates = self.candidates, self.candidates[:1]
        self.solve(self.tolerances[0])
        self.candidates = candidates

    def run(self, stop_val):
        """Solve to the loosest tolerance of the ladder that is at most ``stop_val``."""
        self.result = self.solve(self.tolerances[self._rung(stop_val)])

    def get_next(self, stop_val):
        """Return the next tolerance of the ladder, the last one again at its end."""
        return self.tolerances[min(self._rung(stop_val) + 1, len(self.tolerances) - 1)]

    def get_result(self):
        """Return what the judge needs."""
        return self.result

    def _rung(self, stop_val):
        reached = [i for i, tolerance in enumerate(self.tolerances) if tolerance <= stop_val]
        return reached[0] if reached else len(self.tolerances) - 1
