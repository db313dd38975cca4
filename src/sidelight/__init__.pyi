from typing import Any

from sidelight import data as data
from sidelight import errors as errors
from sidelight import metrics as metrics
from sidelight import plot as plot
from sidelight._affinity.bag_distances import bag_distances as bag_distances
from sidelight.active.bayesian import BayesianActiveClustering as BayesianActiveClustering
from sidelight.active.oracle import Oracle as Oracle
from sidelight.active.questions import Question as Question
from sidelight.active.session import ActiveSession as ActiveSession
from sidelight.data.bags import Bags as Bags
from sidelight.data.channels import stack_channels as stack_channels
from sidelight.data.cooccurrence import CoOccurrence as CoOccurrence
from sidelight.data.hierarchy import LabelTree as LabelTree
from sidelight.data.label_matrix import LabelMatrix as LabelMatrix
from sidelight.data.readers import Dataset as Dataset
from sidelight.data.readers import read as read
from sidelight.data.relations import Pairs as Pairs
from sidelight.data.relations import Triplets as Triplets
from sidelight.data.samples import load_digit_bags as load_digit_bags
from sidelight.data.splits import AnswerKFold as AnswerKFold
from sidelight.data.splits import BagKFold as BagKFold
from sidelight.data.synth.label_tree import make_label_tree as make_label_tree
from sidelight.data.synth.overlapping import make_overlapping_bags as make_overlapping_bags
from sidelight.data.synth.rectangles import make_rectangles as make_rectangles
from sidelight.data.synth.sources import make_sources as make_sources
from sidelight.data.synth.words import make_words as make_words
from sidelight.errors import SidelightError as SidelightError
from sidelight.errors import SidelightWarning as SidelightWarning
from sidelight.estimators.bags import BagKMedoids as BagKMedoids
from sidelight.estimators.bags import BagWordClustering as BagWordClustering
from sidelight.estimators.bags import MaxMarginBagClustering as MaxMarginBagClustering
from sidelight.estimators.bags import MaxMarginBagClusteringCV as MaxMarginBagClusteringCV
from sidelight.estimators.coverage import CoverageClustering as CoverageClustering
from sidelight.estimators.coverage import NovelClassLogisticRegression as NovelClassLogisticRegression
from sidelight.estimators.coverage import OredLogisticRegression as OredLogisticRegression
from sidelight.estimators.coverage.novelty_test import novelty_test as novelty_test
from sidelight.estimators.hierarchy import BinaryRelevance as BinaryRelevance
from sidelight.estimators.hierarchy import ChowLiuTree as ChowLiuTree
from sidelight.estimators.hierarchy import FastTag as FastTag
from sidelight.estimators.hierarchy import LatentHierarchyClassifier as LatentHierarchyClassifier
from sidelight.estimators.instances import BagDiscriminativeClustering as BagDiscriminativeClustering
from sidelight.estimators.instances import BagSpectralClustering as BagSpectralClustering
from sidelight.estimators.instances import ClusterReading as ClusterReading
from sidelight.estimators.instances import RegularizedSpectralClustering as RegularizedSpectralClustering
from sidelight.estimators.instances import SpectralLearning as SpectralLearning
from sidelight.estimators.novelty import DMNL as DMNL
from sidelight.estimators.relations import DiscriminativeClustering as DiscriminativeClustering
from sidelight.estimators.relations import DiscriminativeClusteringCV as DiscriminativeClusteringCV
from sidelight.estimators.scaling import Standardized as Standardized
from sidelight.estimators.sources.agglomerative import SeededAgglomerative as SeededAgglomerative
from sidelight.estimators.sources.annealed import AnnealedCoclustering as AnnealedCoclustering
from sidelight.estimators.sources.codebook import Codebook as Codebook
from sidelight.estimators.sources.concatenated import ConcatenatedKMeans as ConcatenatedKMeans
from sidelight.estimators.sources.information import InformationCoclustering as InformationCoclustering
from sidelight.estimators.sources.interleaved import InterleavedCoclustering as InterleavedCoclustering
from sidelight.estimators.sources.multisource import MultiSourceClustering as MultiSourceClustering
from sidelight.estimators.sources.shared_posterior import SharedPosteriorMixture as SharedPosteriorMixture
from sidelight.estimators.sources.spectral import SpectralContingency as SpectralContingency
from sidelight.estimators.sources.weighted import WeightCoclustering as WeightCoclustering
from sidelight.progress import progress as progress
from sidelight.store.answer_file import AnswerFile as AnswerFile

__version__: str
__all__: list[str]

def save(model: Any, path: Any) -> None: ...
def load(path: Any) -> Any: ...
