"""QUESTIONS: beliefs, strategies and sessions; they choose what to ask and never call a person themselves."""

from sidelight.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bayesian": ("BayesianActiveClustering",),
        "oracle": ("Oracle",),
        "questions": ("Question",),
        "screens": ("Pile", "Screen"),
        "session": ("ActiveSession",),
    },
)
