"""Three people answer, one of them carelessly: what the session makes of it, and of them."""

import numpy as np
from sklearn.datasets import load_iris

import sidelight as sl
from sidelight.plot import UncertaintyMapDisplay

X, y = load_iris(return_X_y=True)
generator = np.random.default_rng(0)
wrong = {"Ann": 0.02, "Bea": 0.02, "Carl": 0.3}  # how often each errs

session = sl.ActiveSession(X, random_state=0)
for turn in range(60):
    person = list(wrong)[turn % 3]
    question = session.ask()
    a, b = question.rows[:2]
    same = (y[a] == y[b]) != (generator.random() < wrong[person])
    session.tell(question, "same" if same else "different", person=person)

print(f"After 60 answers: adjusted Rand index {sl.metrics.adjusted_rand_index(y, session.labels_):.2f}.")
for person in session.people():
    print(
        f"{person.person}: {person.n_answers} answers, {person.rate:.0%} wrong ({person.low:.0%} to {person.high:.0%})"
    )
print(session.outlook().sentence)

# rows the answers leave in doubt
shown = UncertaintyMapDisplay.from_session(session, X).plot()
shown.figure_.savefig("careless_people.png", dpi=90)
