"""Scenarios: plain values that survive files, and complaints that name the place and the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.sim.builtin import SCENARIOS
from paceline.sim.scenario import Latency, Outage, Scenario, Step

amounts = st.floats(0.001, 1e6)
shares = st.floats(0, 0.16)
times = st.floats(0, 1e5)
latencies = st.fixed_dictionaries(
    {},
    optional={
        "mean": st.floats(0, 100),
        "sigma": st.floats(0, 5),
        "constant": st.floats(0, 10),
        "per_output_token": st.floats(0, 1),
        "first_token": st.floats(0, 1),
    },
)
changeable: dict[str, st.SearchStrategy[Any]] = {
    "rpm": st.none() | amounts,
    "tpm": st.none() | amounts,
    "burst": amounts,
    "in_flight": st.none() | st.integers(1, 1000),
    "knee": st.none() | st.integers(1, 1000),
    "latency": latencies,
    "retry_after": st.booleans(),
    "told": st.booleans(),
    "rejects_consume": st.booleans(),
    "charge": st.sampled_from(["used", "reserved", "corrected"]),
    "faults": st.dictionaries(st.sampled_from(["error", "reset", "stall", "truncate", "slow"]), shares),
    "overload": st.fixed_dictionaries({"rate": shares, "status": st.sampled_from([503, 529])}),
    "quota": st.fixed_dictionaries({}, optional={"requests": st.integers(1, 100)}),
}
steps = st.lists(
    st.fixed_dictionaries({"at": times, "set": st.fixed_dictionaries({}, optional=changeable)}), max_size=3
)
outages = st.lists(
    times.map(lambda at: {"at": at, "until": at + 5, "status": 429}),
    max_size=2,
)
mappings = st.fixed_dictionaries(
    {},
    optional={
        **changeable,
        "seed": st.integers(-(2**40), 2**40),
        "headers": st.sampled_from(["openai", "anthropic", "none"]),
        "keys": st.lists(st.text(max_size=5), max_size=2),
        "steps": steps,
        "outages": outages,
    },
)


@given(mappings)
def test_a_scenario_written_down_is_the_same_scenario_when_read(fields: dict[str, Any]) -> None:
    scenario = Scenario.of(fields)
    assert Scenario.of(scenario.as_mapping()) == scenario
    assert Scenario.of(json.loads(json.dumps(scenario.as_mapping()))) == scenario
    assert Scenario.of(yaml.safe_load(yaml.safe_dump(scenario.as_mapping()))) == scenario


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_named_scenario_loads_and_says_what_it_is_about(name: str) -> None:
    scenario = Scenario.load(name)
    assert scenario.name == name
    assert scenario.about


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("s.yaml", "rpm: 60\nlatency: 2\nsteps:\n  - {at: 5, set: {rpm: null}}\n"),
        ("s.json", '{"rpm": 60, "latency": 2, "steps": [{"at": 5, "set": {"rpm": null}}]}'),
    ],
)
def test_a_file_may_be_yaml_or_json(file: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(text)
    assert Scenario.load(path) == Scenario(
        name="s",  # as the file is called
        rpm=60.0,
        latency=Latency(mean=2.0),
        steps=(Step(at=5.0, set={"rpm": None}),),
    )


def test_a_file_may_be_toml(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("rpm = 60\n[latency]\nmean = 2\n[[outages]]\nat = 1\nuntil = 2\n")
    assert Scenario.load(str(path)).outages == (Outage(at=1.0, until=2.0),)


def test_a_change_of_a_group_leaves_the_rest_of_it() -> None:
    scenario = Scenario.of({"latency": {"mean": 5, "sigma": 0.6}}).changed({"latency": 2, "rpm": "600"})
    assert scenario.latency == Latency(mean=2.0, sigma=0.6)
    assert scenario.rpm == 600


def test_steps_build_on_each_other_in_the_order_of_time() -> None:
    scenario = Scenario.of(
        {
            "rpm": 10,
            "latency": {"sigma": 1},
            "steps": [{"at": 9, "set": {"rpm": None}}, {"at": 3, "set": {"latency": {"mean": 7}, "tpm": 5}}],
        }
    )
    assert [(at, phase.rpm, phase.tpm, phase.latency.mean) for at, phase in scenario.phases()] == [
        (0.0, 10.0, None, 1.0),
        (3.0, 10.0, 5.0, 7.0),
        (9.0, None, 5.0, 7.0),
    ]
    assert {phase.latency.sigma for _, phase in scenario.phases()} == {1.0}


@pytest.mark.parametrize(
    ("fields", "complaint", "hint"),
    [
        ({"rpmm": 3}, "there is no field 'rpmm'; did you mean rpm?", "fields are name, "),
        ({"latency": {"men": 3}}, "there is no field 'latency.men'; did you mean mean?", "fields of latency"),
        ({"rpm": -3}, "rpm: it has to be more than 0", "manual"),
        ({"rpm": float("inf")}, "rpm: it has to be at most", "manual"),
        ({"burst": float("nan")}, "burst: it has to be more than 0", "manual"),
        ({"rpm": "many"}, "rpm: expected a number", "manual"),
        ({"knee": 2.5}, "knee: expected a whole number", "manual"),
        ({"headers": "azure"}, "headers: it cannot be 'azure'", "openai, anthropic, none"),
        ({"overload": {"status": 500}}, "overload.status: it cannot be 500", "503, 529"),
        ({"faults": {"error": 0.6, "reset": 0.5}}, "the faults come to 1.1 of all calls", "at most 1"),
        ({"outages": [{"at": 5, "until": 5}]}, "an outage at 5 s ends at 5 s", "seconds from the start"),
        ({"outages": [{"at": 5}]}, "outages[0]: until is missing", "manual"),
        ({"steps": [{"at": 5, "set": {"rmp": 1}}]}, "step 1: there is no field 'rmp'", "fields are"),
        ({"steps": [{"at": 5, "set": {"seed": 1}}]}, "step 1 sets seed", "any field but"),
    ],
)
def test_what_cannot_be_is_one_line_with_the_remedy(
    fields: dict[str, Any], complaint: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        Scenario.of(fields, where="my.yaml")
    assert str(raised.value).startswith("my.yaml: ")
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
    assert hint in raised.value.hint
    assert raised.value.exit_code == 2


def test_a_name_that_nobody_knows_is_a_question() -> None:
    with pytest.raises(UsageError, match=r"there is no scenario 'strom'; did you mean storm\?") as raised:
        Scenario.load("strom")
    assert "gentle" in raised.value.hint


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("a.yaml", None, "there is no file"),
        ("a.yaml", "rpm: [", "cannot be read"),
        ("a.json", "{", "cannot be read"),
        ("a.toml", "= 3", "cannot be read"),
        ("a.yaml", "- 3", "holds no fields"),
        ("a.yaml", "rpm: \udcff", "cannot be read"),
        ("a.yaml", "rpmm: 3", "a.yaml: there is no field 'rpmm'"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    file: str, text: str | None, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / file
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError) as raised:
        Scenario.load(path)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.hint
