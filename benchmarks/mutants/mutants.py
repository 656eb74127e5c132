"""Changes of the package that its tests must notice: name, fragment, new fragment, tests.

A fragment occurs once in the whole package, in whichever file.
"""

MUTANTS = [
    # Modules below the subpackages.
    (
        "top without rounding",
        "share + 4 * np.spacing(share) + 0.5",
        "share + 0.5",
        "tests/metrics",
    ),
    ("top of no row", "np.maximum(1.0, count), share", "count, share", "tests/metrics"),
    (
        "all weights whole",
        "self.weight == np.floor(self",
        "self.weight >= np.floor(self",
        "tests/metrics",
    ),
    (
        "printed small",
        "0.5 * 10.0**-digits",
        "5.0 * 10.0**-digits",
        "tests/inference tests/command",
    ),
    ("warned again", "warned.add(kind)", "pass", "tests/test_warn.py"),
    (
        "hashes collide",
        "if not np.array_equal(coded[rows], values[rows])",
        "if False",
        "tests/test_*.py",
    ),
    ("other problem", "if problem != self.folder.name", "if False", "tests/test_checkpoint.py"),
    (
        "one label",
        "if len(orders.labels) < 2",
        "if len(orders.labels) < 1",
        "tests/test_label_orders.py",
    ),
    (
        "name of labels",
        "{name} has {shape[0]} items, but y_score",
        "y_true has {shape[0]} items, but y_score",
        "tests/test_*.py tests/conformance",
    ),
    (
        "dask dimensions",
        "if value.ndim not in (1, 2)",
        "if False",
        "tests/test_partitions.py tests/test_on_dask.py tests/metrics",
    ),
    (
        "weights all 0",
        'if not weight.any():\n        raise ValueError(f"{name} must',
        'if False:\n        raise ValueError(f"{name} must',
        "tests/rankers tests/conformance",
    ),
    (
        "last feature",
        "int(X.indices.max()) + 1 if X.nnz else 0",
        "int(X.indices.max()) if X.nnz else 0",
        "tests/datasets",
    ),
    # metrics
    (
        "AP of ties",
        "(positive - 1) / np.maximum(length - 1, 1)",
        "positive / length",
        "tests/metrics tests/conformance",
    ),
    (
        "coverage of ties",
        "(positive + other + 1.0) / (positive + 1.0)",
        "(positive + other) / (positive + 1.0)",
        "tests/metrics tests/conformance",
    ),
    (
        "net benefit",
        "exchange = threshold / (1.0 - threshold)",
        "exchange = threshold",
        "tests/metrics",
    ),
    (
        "McClish",
        "(area - chance) / (self._largest - chance)",
        "area / self._largest",
        "tests/metrics",
    ),
    (
        "concordant ties",
        "weight[i] * 0.5 * (higher + equal)",
        "weight[i] * (higher + equal)",
        "tests/metrics",
    ),
    (
        "ROC in ties",
        "whole / (blocks.of_other + 1.0)",
        "whole / (blocks.of_other + 2.0)",
        "tests/metrics tests/conformance",
    ),
    ("rank quantile", "return self(rank / (n + 1.0))", "return self(rank / n)", "tests/metrics"),
    (
        "Spearman slope",
        "12 * ((n - position) / n)",
        "12 * ((n - position + 1) / n)",
        "tests/metrics",
    ),
    (
        "scalar for one list",
        "return (values, lists.ids) if return_qid else values",
        "return (values, lists.ids) if return_qid else values if len(values) > 1 else values[0]",
        "tests/metrics",
    ),
    ("rel excluded", "labels >= self.measure.rel", "labels > self.measure.rel", "tests/metrics"),
    # inference
    ("two-sided quantile", "upper = (1.0 + level) / 2.0", "upper = level", "tests/inference"),
    (
        "Bonferroni",
        "np.arange(len(values), 0, -1) * values[order]",
        "len(values) * values[order]",
        "tests/inference",
    ),
    (
        "ddof of queries",
        "self.values.std(ddof=1) / np.sqrt(",
        "self.values.std(ddof=0) / np.sqrt(",
        "tests/inference",
    ),
    (
        "degrees of queries",
        "return len(self.values) - 1.0",
        "return len(self.values) - 0.0",
        "tests/inference",
    ),
    (
        "one-sided p",
        "min(1.0, 2 * min(greater, less))",
        "min(1.0, min(greater, less))",
        "tests/inference",
    ),
    ("AUC variance of ties", "square = auc - self.tied / 4.0", "square = auc", "tests/inference"),
    ("sequence width", "log1p(x) - 2.0 * log(alpha)", "log1p(x) - log(alpha)", "tests/inference"),
    ("planned positives", "int(share * n + 0.5)", "int(share * n)", "tests/inference"),
    (
        "contrast index",
        'index=pandas.Index(self.contrasts, name="contrast")',
        "index=None",
        "tests/inference",
    ),
    # bounds
    ("score limits", "(1.0 - value) + share / 4.0", "(1.0 - value) + share / 2.0", "tests/bounds"),
    (
        "McDiarmid",
        "(n_pos + n_neg) / (2.0 * n_pos * n_neg)",
        "(n_pos + n_neg) / (n_pos * n_neg)",
        "tests/bounds",
    ),
    ("all positive", "if len(rank) == n:", "if False:", "tests/bounds"),
    # rankers
    (
        "top k of 0",
        "if not 1 <= k <= len(scores)",
        "if not 0 <= k <= len(scores)",
        "tests/rankers tests/conformance",
    ),
    (
        "one standard error",
        "mean >= mean[best] - error[best]",
        "mean >= mean[best]",
        "tests/rankers",
    ),
    (
        "ddof of folds",
        "scores.std(axis=0, ddof=1) / np.sqrt(n_folds)",
        "scores.std(axis=0, ddof=0) / np.sqrt(n_folds)",
        "tests/rankers",
    ),
    ("all rows held out", "min(max(number, 1), n - 1)", "max(number, 1)", "tests/rankers"),
    (
        "predicted class",
        "towards = 1.0 if self.pos_label_ == self.classes_[1] else -1.0",
        "towards = 1.0",
        "tests/rankers",
    ),
    ("lost column", 'columns["within_one_standard_error"] = within', "pass", "tests/rankers"),
    (
        "dtype of ranks",
        'rankdata(-mean.round(DIGITS), method="min").astype(np.int32)',
        'rankdata(-mean.round(DIGITS), method="min")',
        "tests/rankers",
    ),
    # _solvers
    (
        "conjugate",
        "np.asarray((0.5 * slope - 1.0) ** 2)",
        "np.asarray((0.5 * slope - 1.5) ** 2)",
        "tests/solvers tests/rankers",
    ),
    (
        "lost digits",
        "np.where(variances > LOST * squares, variances, 0.0)",
        "variances.clip(0.0)",
        "tests/solvers",
    ),
    (
        "priors",
        "float(np.log(masses[0]) - np.log(masses[1]))",
        "float(np.log(masses[1]) - np.log(masses[0]))",
        "tests/solvers",
    ),
    # losses
    ("softmax Hessian", "share * (direction - mean)", "share * direction", "tests/losses"),
    (
        "lists of pairs",
        "(utility[1:] != utility[:-1]) | (list_of[1:] != list_of[:-1])",
        "utility[1:] != utility[:-1]",
        "tests/losses",
    ),
    (
        "regret constant",
        "return float(2 / np.sqrt(self.mu))",
        "return float(1 / np.sqrt(self.mu))",
        "tests/losses tests/calibration",
    ),
    # calibration
    ("exponent", "two_by_q = 2 - 2 / p", "two_by_q = 2 / p", "tests/calibration"),
    # model_selection
    (
        "Bernstein",
        "7.0 * logs / (3.0 * (n - 1.0))",
        "7.0 * logs / (3.0 * n)",
        "tests/model_selection",
    ),
    (
        "share 0",
        "if sizes.min() <= 0 or sizes.max() > 1",
        "if sizes.min() < 0 or sizes.max() > 1",
        "tests/model_selection",
    ),
    ("dealt folds", "[:: 1 if turn % 2 == 0 else -1]", "[::1]", "tests/model_selection"),
    # preprocessing
    (
        "shares of ties",
        'np.searchsorted(column, values[:, j], "right")',
        'np.searchsorted(column, values[:, j], "left")',
        "tests/preprocessing tests/rankers",
    ),
    (
        "named feature",
        "The values of feature {column} within",
        "The values of feature {column + 1} within",
        "tests/preprocessing",
    ),
    # datasets
    ("highest gain", "2.0 ** (n_grades - 1) - 1.0", "2.0 ** (n_grades - 1)", "tests/datasets"),
    (
        "relevant in qrels",
        "int((grades >= rel).sum())",
        "int((grades > rel).sum())",
        "tests/datasets",
    ),
    (
        "dtype of positions",
        "positions = np.empty(shape, dtype=np.int64)",
        "positions = np.empty(shape)",
        "tests/datasets",
    ),
    # clicks
    ("ddof of sessions", "sizes / (sizes - 1)", "1.0", "tests/clicks"),
    ("position 0", "wrong = (values < 1) |", "wrong = (values < 0) |", "tests/clicks"),
    # plotting
    (
        "end of top",
        "np.floor(share * self.position[-1] + 0.5)",
        "np.floor(share * self.position[-1])",
        "tests/plotting",
    ),
    ("best lift", "perfect[1] = 1 / perfect[1]", "perfect[1] = perfect[1]", "tests/plotting"),
    # _command
    ("rows of a top", "int(tau * n_rows + 0.5)", "int(tau * n_rows)", "tests/command"),
    ("signed classes", "({0.0, 1.0}, {-1.0, 1.0})", "({0.0, 1.0},)", "tests/command"),
    ("fewest resamples", "lambda one: one >= 99", "lambda one: one > 99", "tests/command"),
]
