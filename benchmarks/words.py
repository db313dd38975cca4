"""The letters of a text as bags: each word is a bag, each letter a row drawn from a labelled pool.

This is how the Letter sets of [PF14] were made: Jabberwocky for Letter-Carroll, The Road Not Taken for Letter-Frost,
with letters drawn without replacement from UCI's letter recognition set. The poems are here (Carroll, 1871,
and Frost, 1916, in the public domain); the pool does not. Jabberwocky makes 166 bags and 718 rows; Letter-Carroll as
passed around has 717: the "k" of "back" is lost.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidelight._core.params import as_generator, as_sequence, check_flag
from sidelight.data.bags import Bags
from sidelight.data.names import as_list, plain
from sidelight.errors import InvalidData, nearest

JABBERWOCKY = """\
'Twas brillig, and the slithy toves
Did gyre and gimble in the wabe;
All mimsy were the borogoves,
And the mome raths outgrabe.

"Beware the Jabberwock, my son!
The jaws that bite, the claws that catch!
Beware the Jubjub bird, and shun
The frumious Bandersnatch!"

He took his vorpal sword in hand:
Long time the manxome foe he sought --
So rested he by the Tumtum tree,
And stood awhile in thought.

And as in uffish thought he stood,
The Jabberwock, with eyes of flame,
Came whiffling through the tulgey wood,
And burbled as it came!

One, two! One, two! And through and through
The vorpal blade went snicker-snack!
He left it dead, and with its head
He went galumphing back.

"And hast thou slain the Jabberwock?
Come to my arms, my beamish boy!
O frabjous day! Callooh! Callay!"
He chortled in his joy.

'Twas brillig, and the slithy toves
Did gyre and gimble in the wabe;
All mimsy were the borogoves,
And the mome raths outgrabe.
"""

ROAD_NOT_TAKEN = """\
Two roads diverged in a yellow wood,
And sorry I could not travel both
And be one traveler, long I stood
And looked down one as far as I could
To where it bent in the undergrowth;

Then took the other, as just as fair,
And having perhaps the better claim,
Because it was grassy and wanted wear;
Though as for that the passing there
Had worn them really about the same,

And both that morning equally lay
In leaves no step had trodden black.
Oh, I kept the first for another day!
Yet knowing how way leads on to way,
I doubted if I should ever come back.

I shall be telling this with a sigh
Somewhere ages and ages hence:
Two roads diverged in a wood, and I--
I took the one less traveled by,
And that has made all the difference.
"""


@dataclass(frozen=True, slots=True, repr=False)
class Words:
    """What :func:`make_words` drew.

    Attributes
    ----------
    X : ndarray or CSR array
        One row per letter, from the pool.
    bags : Bags
        The word of each letter, numbered from 0 in the order of the text; label sets are the letters of the word.
    y : ndarray
        The truth: the label of each row, as in the pool.
    words : tuple
        The words, one per bag.
    rows : ndarray of intp
        Which row of the pool each letter is.
    """

    X: Any
    bags: Bags
    y: NDArray[Any]
    words: tuple[Any, ...]
    rows: NDArray[np.intp]

    def __repr__(self) -> str:
        return f"Words({len(self.rows)} letters in {len(self.words)} words, {self.bags.n_classes} different)"


def make_words(
    text: str | Iterable[Sequence[Any]] | None,
    X: Any,
    y: Any,
    *,
    replace: bool = False,
    random_state: Any = None,
) -> Words:
    """Spell a text with rows of a labelled pool; words become bags, their letters the label sets.

    Parameters
    ----------
    text : str, iterable of sequences, or None
        A text, whose words are what stands between white space or dashes, without punctuation; or words as sequences
        of labels. None is Jabberwocky; ``ROAD_NOT_TAKEN`` is the other poem of [PF14].
    X : array-like or sparse matrix of shape (n_pool, n_features)
        The pool.
    y : sequence of length n_pool
        The label of each row of the pool. For a text these are single characters; case does not matter.
    replace : bool
        Whether a row of the pool may be used twice.
    random_state : int, RandomState, Generator or None
        The seed.

    Returns
    -------
    Words
        With ``X``, ``bags``, ``y``, ``words`` and ``rows``.

    Examples
    --------
    >>> spelled = make_words("No. On!", [[0.0], [0.1], [5.0]], ["o", "o", "n"], replace=True, random_state=0)
    >>> spelled.words
    ('no', 'on')
    >>> sorted(spelled.bags.labels[0])
    ['n', 'o']
    """
    check_flag("make_words", "replace", replace)
    X, labels = _checked_pool(X, y)
    text = JABBERWOCKY if text is None else text
    words = _words(text)
    spelling = _speller(labels, is_text=isinstance(text, str))
    letters = [spelling(letter, word) for word in words for letter in word]
    rows = _draw(letters, labels, replace, as_generator(random_state))
    ids = np.repeat(np.arange(len(words)), [len(word) for word in words])
    sets: dict[Any, set[Any]] = {}
    for bag, letter in zip(ids.tolist(), letters):
        sets.setdefault(bag, set()).add(letter)
    truth = y if isinstance(y, np.ndarray) else np.asarray(labels)
    return Words(X=X[rows], bags=Bags(ids, labels=sets), y=truth[rows], words=words, rows=rows)


def _checked_pool(X: Any, y: Any) -> tuple[Any, list[Any]]:
    try:
        X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    except ValueError as error:  # rows of different lengths
        raise InvalidData(f"make_words needs the pool X as rows of one length, got {X!r:.80}.") from error
    labels = [plain(label) for label in as_list(y, "label")]
    if not all(isinstance(label, Hashable) for label in labels):
        raise InvalidData(f"make_words needs one label for each row of the pool, such as a letter, got {y!r:.80}.")
    if X.ndim != 2 or X.shape[0] != len(labels):
        raise InvalidData(f"make_words: the pool has X of shape {X.shape} but {len(labels)} labels; one per row.")
    return X, labels


_WORD = "a sequence of words, each a sequence of letters"


def _words(text: str | Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    if isinstance(text, str):
        parts = re.split(r"\s+|--+|[\u2013\u2014]", text)  # a hyphen holds a word together, a dash does not
        words: tuple[Any, ...] = tuple(word for part in parts if (word := re.sub(r"[\W_]", "", part).lower()))
    else:
        listed = as_sequence("make_words", "text", text, "a text, or a sequence of words")
        words = tuple(
            tuple(
                plain(letter)
                for letter in (word if isinstance(word, str) else as_sequence("make_words", "text", word, _WORD))
            )
            for word in listed
        )
        words = tuple(word for word in words if word)
    if not words:
        raise InvalidData("make_words: the text has no words. Bring at least one letter.")
    return words


def _speller(labels: list[Any], *, is_text: bool) -> Any:
    """Return a function from a letter to the label it stands for."""
    by_letter = {(str(label).lower() if is_text else label): label for label in labels}

    def spell(letter: Any, word: Any) -> Any:
        if not isinstance(letter, Hashable) or letter not in by_letter:
            known = list(dict.fromkeys(labels))
            raise InvalidData(f"make_words: the pool has no {letter!r}, needed for {word!r}. {nearest(letter, known)}")
        return by_letter[letter]

    return spell


def _draw(letters: list[Any], labels: list[Any], replace: bool, rng: np.random.Generator) -> NDArray[np.intp]:
    pool: dict[Any, list[int]] = {}
    for row, label in enumerate(labels):
        pool.setdefault(label, []).append(row)
    wanted: dict[Any, list[int]] = {}
    for place, letter in enumerate(letters):
        wanted.setdefault(letter, []).append(place)
    rows = np.empty(len(letters), dtype=np.intp)
    for letter, places in wanted.items():
        if not replace and len(places) > len(pool[letter]):
            raise InvalidData(
                f"make_words: the text needs {letter!r} {len(places)} times but the pool has {len(pool[letter])}. "
                "Bring a larger pool or a shorter text, or pass replace=True."
            )
        rows[places] = rng.choice(pool[letter], size=len(places), replace=replace)
    return rows
