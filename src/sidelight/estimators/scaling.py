"""Standardised rows in front of any estimator here, kept in the same model file.

A scikit-learn ``Pipeline`` does the same in memory, but cannot be stored without storing code. The command line uses
this one, so that a saved model takes the user's raw rows, and finds its columns by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import as_sequence, check_choice, check_estimator, check_number
from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight._core.unchanged import made_once
from sidelight._models.column_kinds import families_of, guess_components
from sidelight._models.passes import Moments, once_over
from sidelight._models.prepared_rows import KINDS, Preparation, kind_of
from sidelight.data.parts import PartedRows
from sidelight.errors import InvalidData, InvalidParameter, nearest
from sidelight.estimators._base import Estimator, all_or_nothing, fingerprint, naming_file, rows_to_fit, rows_to_judge

ROUTED = ("fit", "predict", "score")  # the methods whose side information scikit-learn's tools route


def _of_inner(name: str) -> Any:
    """Make a method that hands standardised rows to the inner estimator's method, where it has one."""

    def method(self: Standardized, X: Any, *args: Any, **side: Any) -> Any:
        return getattr(self._fitted(), name)(self._prepared(X), *args, **side)

    method.__name__ = name
    method.__qualname__ = f"Standardized.{name}"
    method.__doc__ = f"Call ``estimator_.{name}`` on the standardised rows of X."
    return available_if(_has(name))(method)


def _has(name: str) -> Callable[[Any], bool]:
    def has(self: Standardized) -> bool:
        getattr(vars(self).get("estimator_", self.estimator), name)  # its AttributeError says what is missing
        return True

    return has


class Standardized(MetaEstimatorMixin, Estimator):
    """Fit ``estimator`` on rows prepared by their kind: numbers get mean 0 and variance 1 in every feature.

    Everything the inner estimator publishes is available here too: ``labels_``, ``predict`` and so on take and give
    what they would inside, for rows in the user's own units. Sparse rows are scaled but not centred. Where the columns
    have names, rows of a data frame are matched by name: order and further columns do not matter.

    Components (principal components, an embedding) keep their relative variances: the first say most.

    Words (counts, 0/1 or tf-idf, mostly zeros and never negative) become tf-idf of unit length, and its leading
    directions of unit length; where numbers stand beside words both are prepared apart and weigh the same.

    Parameters
    ----------
    estimator : estimator
        Any estimator of Sidelight's that takes rows of features.
    feature_names : sequence of str, default=None
        The names of the columns, when ``fit`` gets them as a plain array.
    kind : {"auto", "numbers", "words", "mixed"}, default="auto"
        What the rows hold; "auto" looks, and ``kind_`` and ``why_kind_`` say what it saw. Channels of an estimator that
        has some are always numbers here: it prepares them by their kind itself.
    n_directions : int, default=50
        Leading directions of words that are kept; methods that learn from lists gain from more (200).
    components : "auto" or sequence of str, default="auto"
        Columns that are principal components or an embedding, by names or patterns such as ``"emb_*"``: they are
        centred and keep their relative variances, and of more than 100 the leading directions stand for them. "auto"
        goes by names (``emb_0``, ``pc1``) and by sizes that fall; an empty sequence: no column is one.

    Attributes
    ----------
    estimator_ : estimator
        The fitted inner estimator.
    mean_ : ndarray of shape (n_features,)
        What is subtracted; zeros for sparse rows.
    scale_ : ndarray of shape (n_features,)
        What is divided by; 1 for constant features.
    kind_, why_kind_ : str
        "numbers", "components", "words" or "mixed", and the evidence in a few words.
    preparation_ : Preparation or None
        What is done to words and components; None for numbers.
    feature_names_in_ : ndarray of str
        The names of the columns, where they have names.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0, 100.0], [0.1, 900.0], [5.0, 200.0], [5.1, 800.0]])
    >>> model = sl.Standardized(sl.DiscriminativeClustering(2, random_state=0)).fit(X)
    >>> model.predict(X).tolist() == model.labels_.tolist()
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        feature_names: Sequence[str] | None = None,
        kind: str = "auto",
        n_directions: int = 50,
        components: Sequence[str] | str = "auto",
    ) -> None:
        self.estimator = estimator
        self.feature_names = feature_names
        self.kind = kind
        self.n_directions = n_directions
        self.components = components

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **side: Any) -> Standardized:
        """Learn means and scales, then fit the inner estimator.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features), or Parts
            The rows; Parts where the inner estimator can be fitted by parts.
        y : object, default=None
            Handed on.
        **side : objects
            Side information (``bags=`` and so on), handed on.
        """
        check_estimator(self, "estimator", self.estimator)
        if self.estimator.__sklearn_tags__().input_tags.pairwise:
            raise InvalidParameter(
                f"Standardized scales features, but {type(self.estimator).__name__} was told to take a table of "
                "similarities or distances. Standardise the rows before you compute it."
            )
        check_choice(self, "kind", self.kind, KINDS)
        check_number(self, "n_directions", self.n_directions, integer=True, low=1)
        if isinstance(X, PartedRows):
            return self._fit_parts(X, y, side)
        X = rows_to_fit(self, X, huge=True)
        self._name_columns(X.shape[1])
        self._learn_kind(X)
        self.mean_, self.scale_ = mean_and_scale(X)
        if sp.issparse(X):
            self.mean_ = np.zeros_like(self.mean_)  # centring would make the rows dense
        self.estimator_ = clone(self.estimator).fit(self._standardise(X), y, **side)
        return self

    @available_if(_has("fit_predict"))  # type: ignore[untyped-decorator] # scikit-learn ships no types
    def fit_predict(self, X: Any, y: Any = None, **side: Any) -> np.ndarray:
        """Fit, and return the cluster of each row.

        Parameters
        ----------
        X, y, **side
            As in :meth:`fit`.
        """
        labels: np.ndarray = self.fit(X, y, **side).estimator_.labels_
        return labels

    @available_if(_has("transform"))  # type: ignore[untyped-decorator] # scikit-learn ships no types
    def fit_transform(self, X: Any, y: Any = None, **side: Any) -> Any:
        """Fit, and return what :meth:`transform` makes of the rows.

        Parameters
        ----------
        X, y, **side
            As in :meth:`fit`.
        """
        return self.fit(X, y, **side).transform(X)

    predict = _of_inner("predict")
    predict_proba = _of_inner("predict_proba")
    predict_labels = _of_inner("predict_labels")
    predict_bags = _of_inner("predict_bags")
    predict_sets = _of_inner("predict_sets")
    predict_bag_sets = _of_inner("predict_bag_sets")
    predict_bags_said = _of_inner("predict_bags_said")
    predict_bag_counts = _of_inner("predict_bag_counts")
    predict_kinds = _of_inner("predict_kinds")
    predict_bag_clusters = _of_inner("predict_bag_clusters")
    predict_bags_proba = _of_inner("predict_bags_proba")
    predict_bag_proba = _of_inner("predict_bag_proba")
    bag_scores = _of_inner("bag_scores")
    novelty_score = _of_inner("novelty_score")
    decision_function = _of_inner("decision_function")
    complete = _of_inner("complete")
    complete_proba = _of_inner("complete_proba")
    memberships = _of_inner("memberships")
    embed = _of_inner("embed")
    transform = _of_inner("transform")
    score = _of_inner("score")

    @available_if(_has("set_output"))  # type: ignore[untyped-decorator] # scikit-learn ships no types
    def set_output(self, *, transform: str | None = None) -> Standardized:
        """Choose what :meth:`transform` returns: an array, or a data frame with named columns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            None changes nothing.
        """
        for part in (self.estimator, vars(self).get("estimator_")):
            if part is not None:
                part.set_output(transform=transform)
        return self

    @available_if(_has("get_feature_names_out"))  # type: ignore[untyped-decorator] # scikit-learn ships no types
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Present for scikit-learn.
        """
        names: np.ndarray = self._fitted().get_feature_names_out()
        return names

    @available_if(_has("is_new"))  # type: ignore[untyped-decorator] # scikit-learn ships no types
    def is_new(self, X: Any, *, channel: str | None = None, **side: Any) -> np.ndarray:
        """Call ``estimator_.is_new`` on standardised rows, or on standardised points of one channel.

        Parameters
        ----------
        X : array, CSR matrix or data frame
            Rows of all channels; points of one channel where ``channel`` is named.
        channel : str, default=None
            The channel that the points belong to.
        **side : objects
            Handed on.
        """
        inner = self._fitted()
        rows = self._prepared(X) if channel is None else self._points(channel, X)
        is_new: np.ndarray = inner.is_new(rows, channel=channel, **side)
        return is_new

    @available_if(_has("predict_channel"))  # type: ignore[untyped-decorator] # scikit-learn ships no types
    def predict_channel(self, channel: str, X: Any, **side: Any) -> np.ndarray:
        """Return the cluster of new points of one channel, from that channel alone.

        Parameters
        ----------
        channel : str
            One of the channels of ``fit``.
        X : array of shape (n_points, columns of the channel)
            The points, in the user's own units.
        **side : objects
            Handed on.
        """
        labels: np.ndarray = self._fitted().predict_channel(channel, self._points(channel, X), **side)
        return labels

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn that side information goes to the inner estimator."""
        mapping = MethodMapping()
        for name in ROUTED:
            mapping.add(caller=name, callee=name)
        return MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)

    def __getattr__(self, name: str) -> Any:
        inner = vars(self).get("estimator_")
        if inner is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(inner, name)

    def _fitted(self) -> Any:
        check_is_fitted(self, "estimator_")
        return self.estimator_

    def _name_columns(self, n_columns: int) -> None:
        """Remember ``feature_names`` as if they had come with a data frame."""
        if self.feature_names is None or hasattr(self, "feature_names_in_"):
            return
        names = as_sequence(self, "feature_names", self.feature_names, "a sequence with one name a column")
        if len(names) != n_columns:
            raise InvalidParameter(
                f"The 'feature_names' parameter of Standardized must hold one name for each of the {n_columns} "
                f"columns. Got {self.feature_names!r} instead."
            )
        self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)

    @naming_file
    def _prepared(self, X: Any) -> Any:
        """Validate rows to judge, and standardise them."""
        return self._standardise(self._rows(X))

    def _rows(self, X: Any) -> Any:
        """Validate rows to judge; the columns of a data frame are found by name."""
        self._fitted()
        names = vars(self).get("feature_names_in_")
        frame = None if names is None else nw.from_native(X, eager_only=True, pass_through=True)
        if names is None or not isinstance(frame, nw.DataFrame):
            return rows_to_judge(self, X, huge=True, names=False)
        missing = [name for name in names if name not in frame.columns]
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            raise InvalidData(
                f"Standardized was fitted on a column called {missing[0]!r}{more}, which these rows do not have. "
                + nearest(missing[0], frame.columns)
            )
        return rows_to_judge(self, frame.select(list(names)).to_native(), huge=True)

    def _points(self, channel: str, X: Any) -> Any:
        """Standardise points of one channel by the means and scales of its columns."""
        columns = self._fitted().channel_columns_.get(channel)
        points = np.asarray(X, dtype=np.float64) if not sp.issparse(X) else X
        if columns is None or points.ndim > 2 or (points.ndim == 2 and points.shape[1] != len(columns)):
            return X  # the inner estimator says what is wrong with the channel or the points
        points = points.reshape(-1, len(columns)) if points.ndim == 1 and len(columns) == 1 else points
        if points.ndim != 2:
            return X
        return scaled(points, self.mean_[columns], self.scale_[columns])

    def _fit_parts(self, parts: PartedRows, y: Any, side: dict[str, Any]) -> Standardized:
        """Learn means and scales in one pass, then fit the inner estimator to the standardised parts."""
        seen = np.asarray(parts.rows(0, min(2_000, parts.n_rows)), dtype=np.float64)
        self._learn_kind(np.nan_to_num(seen))  # a gap is told where it is met
        if self.kind_ != "numbers":
            raise InvalidData(
                f"Standardized: the rows hold {self.kind_}, and words cannot be prepared by parts. Say kind='numbers' "
                "if they are numbers, or fit a sample: X, bags = parts.sample(100_000)."
            )
        self.n_features_in_, self.feature_names = parts.n_features, self.feature_names or parts.feature_names
        self._name_columns(parts.n_features)
        self.data_fingerprint_ = fingerprint(seen)
        with once_over(side.get("engine"), parts).over(parts.without_bags()) as passes:
            total, squares = passes.sum(Moments())
            mean = total / passes.n_rows
            deviation = np.sqrt(np.maximum(squares / passes.n_rows - mean**2, 0.0)) * passes.look.spread
            self.mean_ = passes.look.far(mean)
        constant = deviation <= 1e-12 * np.maximum(1.0, np.abs(self.mean_))
        self.scale_ = np.where(constant, 1.0, deviation)
        families = self._families(seen)
        for k in range(0 if families is None else int(families.max()) + 1):  # the strongest of a family gets variance 1
            self.scale_[families == k] = float(deviation[families == k].max()) or 1.0
        self.estimator_ = clone(self.estimator).fit(parts.scaled(self.mean_, self.scale_), y, **side)
        return self

    def _learn_kind(self, X: Any) -> None:
        """See what the rows hold; words are prepared by what is learnt here, numbers by mean and scale."""
        self.kind_, self.why_kind_, self.preparation_ = self.kind, "it was said", None
        if hasattr(self.estimator, "channels"):
            self.kind_, self.why_kind_ = "numbers", "the estimator has channels, and prepares them itself"
        elif self.kind == "auto":
            self.kind_, self.why_kind_, _ = kind_of(X)
        families = None if hasattr(self.estimator, "channels") else self._families(X)
        if families is not None:
            self.preparation_ = Preparation.of(X, self.kind, n_directions=self.n_directions, families=families)
            self.kind_, self.why_kind_ = self.preparation_.kind, self.preparation_.why
        elif self.kind_ != "numbers":
            if self.kind_ == "words" and X.size and X.min() < 0:
                raise InvalidData(
                    "Standardized: words are counts or weights, but some cells are negative. Say kind='numbers', or "
                    "bring the counts."
                )
            self.preparation_ = Preparation.of(X, self.kind_, n_directions=self.n_directions)
            self.kind_ = self.preparation_.kind

    def _families(self, X: Any) -> Any:
        """Return the family of each column that is a component, or None where no column is one."""
        names = [str(name) for name in vars(self).get("feature_names_in_", ())]
        patterns: Any = self.components
        if isinstance(patterns, str) and patterns == "auto":
            patterns, _ = guess_components(X, names) if self.kind_ == "numbers" else ((), "")
        patterns = as_sequence(self, "components", patterns, "'auto', or a sequence of names or patterns of columns")
        if not len(patterns):
            return None
        if not names:
            raise InvalidParameter("Standardized finds components by name: give 'feature_names', or a data frame.")
        return families_of(names, [str(one) for one in patterns])

    def _standardise(self, X: Any) -> Any:
        preparation = vars(self).get("preparation_")  # models of version 0.1 have none
        if preparation is not None:
            return made_once(X, preparation, lambda: preparation(X))
        return made_once(X, self.scale_, lambda: scaled(X, self.mean_, self.scale_))

    def __sklearn_tags__(self) -> Any:
        """Take and give what the inner estimator does."""
        tags = super().__sklearn_tags__()
        inner = deepcopy(self.estimator.__sklearn_tags__())
        inner.input_tags.pairwise = False
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "transformer_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.input_tags, tags.target_tags, tags.non_deterministic = (
            inner.input_tags,
            inner.target_tags,
            inner.non_deterministic,
        )
        return tags
