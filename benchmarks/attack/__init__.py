"""An attack on everything that takes something from outside: files, calls, model files, run.toml, the machine itself.

Each kind of attack is a module with ``COUNT`` (cases of a full run) and ``attack(number, folder)``, which returns one
verdict or several: ``"accepted"``, ``"refused"`` (an error of ours) or anything else, which is a finding.
"""
