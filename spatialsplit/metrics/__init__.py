"""The four metrics of the competitions: sets and lists in, numbers out.

`f1_samples` (GeoLifeCLEF 2023 to 2025), `top_k_error` (GeoLifeCLEF 2022), `fathomnet_score` (FathomNet 2023)
and `jaccard_fbeta` (Coleridge Initiative). Each formula has one home here; files, ids and faults stand in
`spatialsplit.submission`, and the platform files of `spatialsplit.exports` are generated from these very
lines. That is why the modules here use the standard library alone and nothing that Python 3.8 lacks at run
time.

No equality is claimed with a scorer that is closed (Kaggle's own); where public implementations disagree,
each docstring says how and what is done here.
"""

from spatialsplit.metrics.labels import f1_samples, top_k_error
from spatialsplit.metrics.ranking import average_precision_at_k, fathomnet_score, rescaled_auc
from spatialsplit.metrics.strings import jaccard_fbeta

__all__ = [
    "average_precision_at_k",
    "f1_samples",
    "fathomnet_score",
    "jaccard_fbeta",
    "rescaled_auc",
    "top_k_error",
]
