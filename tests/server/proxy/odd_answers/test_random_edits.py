"""For random edits of recorded answers: what an SDK takes for a call was judged, or is not there.

`TASKSHIELD_EXAMPLES=3000` tries as many for each wire format.
"""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.sessions import run
from tests.server.proxy.odd_answers.edits import edited, recorded
from tests.server.proxy.odd_answers.examples import EXAMPLES
from tests.server.proxy.odd_answers.played import FORMATS, MARK, acted_on, played

FORMAT = pytest.mark.parametrize("name", FORMATS)
STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["complete", "stream"])


@FORMAT
@STREAMS
def test_a_recorded_answer_is_judged_as_its_sdk_reads_it(name: str, streams: bool) -> None:
    data = recorded(name, streams=streams)
    found = run(played(name, [data], streams=streams))
    calls = acted_on(name, data, streams=streams)
    assert found.error is None and calls == found.judged
    assert acted_on(name, found.data, streams=streams) == {("read_file", '{"path": "bill.txt"}')}


@FORMAT
@STREAMS
@settings(max_examples=EXAMPLES)
@given(random=st.randoms(use_true_random=False))
def test_no_edit_hides_a_call(name: str, streams: bool, random: Random) -> None:
    chunks = edited(name, random, streams=streams)
    found = run(played(name, chunks, streams=streams))
    assert found.clean, found.error
    acted = acted_on(name, found.data, streams=streams)
    assert all(found.has_judged(call) for call in acted)
    assert not any(MARK in part for call in acted for part in call)
