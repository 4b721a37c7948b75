from pathlib import Path

import append_cost


def test_a_message_writes_a_small_part_of_its_session(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    found = append_cost.measure(append_cost.ROOT / "src", url, "conversation", 20)
    assert found.keys() == {"messages", *append_cost.COLUMNS}
    # The messages before have more than 5,000 characters.
    assert 0 < int(str(found["session_bytes"])) < 2_000
    assert int(str(found["written_bytes"])) > int(str(found["case_bytes"])) > 0
