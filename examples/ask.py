"""Ask a simulated person about pairs of wines, and watch the clusters improve."""

from sklearn.datasets import load_wine

import sidelight as sl
from sidelight.plot import QuestionsDisplay

X, y = load_wine(return_X_y=True)
session = sl.ActiveSession(X / X.std(axis=0), random_state=0)  # nobody says how many kinds there are
person = sl.Oracle(y)

for _ in range(4):
    session.run(person, budget=10)
    agreement = sl.metrics.adjusted_rand_index(y, session.labels_)
    print(f"{session.n_answers} answers: adjusted Rand index {agreement:.2f}. {session.outlook().sentence}")

# which rows the questions compared
shown = QuestionsDisplay.from_session(session, X / X.std(axis=0)).plot()
shown.figure_.savefig("ask.png", dpi=90)
