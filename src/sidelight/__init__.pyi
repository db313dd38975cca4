from typing import Any

from sidelight import active as active
from sidelight import data as data
from sidelight import errors as errors
from sidelight import estimators as estimators
from sidelight import metrics as metrics
from sidelight import peers as peers
from sidelight import plot as plot
from sidelight._models.on_dask import OnDask as OnDask
from sidelight.active.bayesian import BayesianActiveClustering as BayesianActiveClustering
from sidelight.active.oracle import Oracle as Oracle
from sidelight.active.session import ActiveSession as ActiveSession
from sidelight.app.jobs.notebook import show as show
from sidelight.app.store.answer_file import AnswerFile as AnswerFile
from sidelight.data.bags import Bags as Bags
from sidelight.data.channels import stack_channels as stack_channels
from sidelight.data.cooccurrence import CoOccurrence as CoOccurrence
from sidelight.data.dataset import Dataset as Dataset
from sidelight.data.hierarchy import LabelTree as LabelTree
from sidelight.data.label_matrix import LabelMatrix as LabelMatrix
from sidelight.data.relations import Pairs as Pairs
from sidelight.data.relations import Triplets as Triplets
from sidelight.data.splits import AnswerKFold as AnswerKFold
from sidelight.data.splits import BagKFold as BagKFold
from sidelight.errors import SidelightError as SidelightError
from sidelight.errors import SidelightWarning as SidelightWarning
from sidelight.estimators.bags.max_margin import MaxMarginBagClustering as MaxMarginBagClustering
from sidelight.estimators.bags.words import BagWordClustering as BagWordClustering
from sidelight.estimators.coverage.clustering import CoverageClustering as CoverageClustering
from sidelight.estimators.coverage.novelty_test import novelty_test as novelty_test
from sidelight.estimators.hierarchy.classifier import LatentHierarchyClassifier as LatentHierarchyClassifier
from sidelight.estimators.instances.bag_spectral import BagSpectralClustering as BagSpectralClustering
from sidelight.estimators.novelty.dmnl import DMNL as DMNL
from sidelight.estimators.relations.cross_validation import DiscriminativeClusteringCV as DiscriminativeClusteringCV
from sidelight.estimators.relations.discriminative import DiscriminativeClustering as DiscriminativeClustering
from sidelight.estimators.scaling import Standardized as Standardized
from sidelight.estimators.sources.information import InformationCoclustering as InformationCoclustering
from sidelight.estimators.sources.multisource import MultiSourceClustering as MultiSourceClustering
from sidelight.files import Parts as Parts
from sidelight.files import from_folder as from_folder
from sidelight.files import read as read
from sidelight.files import write as write
from sidelight.progress import progress as progress

__version__: str
__all__: list[str]

def save(model: Any, path: Any) -> None: ...
def load(path: Any) -> Any: ...
