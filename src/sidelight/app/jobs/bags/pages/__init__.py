"""The pages of the bags job, one a method, and the words that only they use."""

TERMS = {
    "Hausdorff distance": "How far two bags are apart, measured between rows of one and the nearest rows of the other.",
    "margin": "How clearly a row speaks for its cluster: from 1 on it is beyond doubt, below 0 it speaks for another.",
    "medoid": "The bag in the middle of a cluster: the others are nearest to it.",
    "witness": "The row that decided the cluster of its bag: it speaks most clearly.",
}
