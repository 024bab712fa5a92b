"""The experiment on steps: it reads programs right, and what is stored is what it would say."""

import json

import numpy as np

from experiments import step_limits
from nlp104.figures import results
from nlp104.figures.explore.devices import ledger

PROGRAM = """
 %a = f32[8,7,16]{2,1,0} all-reduce(%x), channel_id=1, replica_groups=[2,4]<=[8], to_apply=%add
 %b = (f32[40,16]{1,0}, /*index=5*/f32[16]{0}) all-reduce(%y, %z), channel_id=2, \
replica_groups=mesh['axis_0'=2,'axis_1'=1,'axis_3'=4] {'axis_0'}, use_global_device_ids=true
 %c = f32[] all-reduce-start(%w), replica_groups=mesh['axis_0'=2,'axis_1'=4] {'axis_0','axis_1'}, x
 %d = f32[8,7,4]{1,0,2} all-gather(%v), replica_groups=[2,4]<=[8], dimensions={2}
"""


def test_sums_are_found_in_a_program_with_their_devices():
    found = step_limits.sums(PROGRAM.replace("\\\n", ""))
    assert found == [(4 * 8 * 7 * 16, 4), (4 * 40 * 16, 2), (4 * 16, 2), (4, 8)]


def test_a_rate_is_of_processor_time():
    calls = []
    rate = step_limits.per_second(lambda: calls.append(np.ones(100_000)), 3, seconds=0.05)
    assert rate > 0
    assert 0.5 < 3 * len(calls) / rate / 0.05 < 2


def test_what_is_stored_follows_from_the_closed_forms():
    runs = json.loads(results.read("step-limits/limits.json"))["runs"]
    assert runs.keys() == step_limits.PARTS.keys()
    points = [(run["preset"], run["rows"], run["length"]) for run in runs["memory"]["found"]]
    assert points == step_limits.KEPT
    for run in runs["memory"]["found"]:
        config = step_limits.config_of(run["preset"])
        kept = step_limits.kept(config, run["rows"], run["length"], run["length"])
        assert run["kept"] == {what: 4 * count for what, count in kept.items()}
        assert 1 < run["measured"] / sum(run["kept"].values()) < 3
    for name, (rows, slices) in step_limits.GRIDS.items():
        [sent] = ledger(step_limits.SHARED, rows, slices, [256])["sent"]
        found = runs["sent"]["found"][name]
        assert [each["figure"] for each in found.values()] == [sum(sent[:-1]), sent[-1]]
        assert all(
            each["figure"] <= each["sent"] <= 1.5 * each["figure"] for each in found.values()
        )
