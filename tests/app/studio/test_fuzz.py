"""Whatever the description of the interface allows, and some of what it does not: never a failure of the server."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from tests.app.studio.conftest import blobs


@pytest.mark.slow
def test_the_interface_never_fails(running):
    schemathesis = pytest.importorskip("schemathesis")
    server = running(sources=[("blobs", blobs(30), {})])
    token = server.studio.store.add_person(1, "Ann").token
    described = server.client.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(described)
    skipped = {"/api/projects/{number}/simulate"}  # slow by design
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 20
    for operation in operations:
        if operation.path not in skipped:
            given(case=operation.as_strategy())(_attack(server, token))()


def _attack(server, token):
    @settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def attack(case):
        known = {"token": token, "number": 1}
        case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        response = case.call(base_url=server.url, headers={"X-Sidelight": "1"}, timeout=20)
        assert response.status_code < 500, (case.operation.label, response.status_code, response.text[:200])

    return attack
