"""The law about laws: nobody to whom a law applies is missing from the registry."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from tests.laws import registry

import sidelight as sl
import sidelight._terms


def public_classes():
    return [getattr(sl, name) for name in sl.__all__ if inspect.isclass(getattr(sl, name))]


def named(*kinds):
    return {kind.__name__ for kind in kinds}


def test_every_term_is_registered():
    modules = [
        importlib.import_module(f"sidelight._terms.{m.name}") for m in pkgutil.iter_modules(sidelight._terms.__path__)
    ]
    terms = {
        name
        for module in modules
        for name, member in inspect.getmembers(module, inspect.isclass)
        if member.__module__ == module.__name__ and "__call__" in vars(member) and not name.startswith("_")
    }
    assert terms - named(*map(type, registry.TERMS)) - set(registry.UNLAWFUL) == set()


def test_every_public_estimator_is_registered():
    rooms = [getattr(room, name) for room in (sl.estimators, sl.peers) for name in room.__all__]
    everything = [*public_classes(), *(cls for cls in rooms if inspect.isclass(cls))]
    estimators = named(*[cls for cls in everything if hasattr(cls, "fit") and not inspect.isabstract(cls)])
    assert estimators - {case.name for case in registry.CASES} - set(registry.UNLAWFUL) == set()


def test_every_supervision_object_is_registered():
    objects = named(*[cls for cls in public_classes() if cls.__module__.startswith("sidelight.data.")])
    splitters = {name for name in objects if hasattr(getattr(sl, name), "split")}
    assert objects - splitters - named(*registry.SUPERVISION) - set(registry.UNLAWFUL) == set()


def test_every_exception_has_a_name_and_a_reason():
    for name, reason in registry.UNLAWFUL.items():
        assert hasattr(sl, name) or any(name == type(term).__name__ for term in registry.TERMS)
        assert len(reason) > 20


def test_bags_of_the_registry_are_interleaved():
    bags = registry.labelled_bags()
    assert not (bags.codes[1:] >= bags.codes[:-1]).all()
    assert list(bags.names) != sorted(bags.names)
    assert (bags.order != range(len(bags))).any()
