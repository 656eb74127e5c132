"""Linear rankers with their usual parameters."""

from sklearn.preprocessing import StandardScaler

from sklearn_rank import OrderPreservingRanker, OrderPreservingRankerCV, RankEnsemble
from sklearn_rank.losses import get_loss_names

LOSSES = tuple(get_loss_names(order_preserving=True))
FEW_LOSSES = ("pairwise_logistic", "pairwise_squared", "pointwise_squared", "softmax")
MEASURE = "ndcg@10"


def raw(loss="softmax"):
    """Features as they are, the penalty in the unit of each."""
    return OrderPreservingRanker(loss, measure=MEASURE, alpha="scale")


def per_query(loss="softmax"):
    """Features on one scale within each query, the penalty relative to the loss."""
    return OrderPreservingRanker(loss, measure=MEASURE, alpha="scale", normalize="zscore")


def several(losses=FEW_LOSSES):
    """The mean of one such ranker for each loss."""
    return RankEnsemble([(loss, per_query(loss)) for loss in losses], measure=MEASURE)


def chosen(cv):
    """The same with the penalty by cross-validation."""
    return OrderPreservingRankerCV(measure=MEASURE, cv=cv)


def standardised_scores(train, test, **parameters):
    """Scores of the test rows by columns of unit variance and a ranker of parameters."""
    scaler = StandardScaler().fit(train.X)
    ranker = OrderPreservingRanker("pairwise_logistic", **parameters)
    ranker.fit(scaler.transform(train.X), train.y, qid=train.qid)
    return ranker.predict(scaler.transform(test.X))
