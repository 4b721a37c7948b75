from dataclasses import asdict
from types import SimpleNamespace

from tests.packaging.table import PROPERTY, Cell, lines


def _report(outcome: str, cell: Cell, when: str = "call") -> SimpleNamespace:
    kept = [("other", 1), (PROPERTY, asdict(cell))]
    return SimpleNamespace(when=when, outcome=outcome, user_properties=kept)


def test_the_table_shows_each_cell_and_what_it_ran() -> None:
    cells = [
        Cell(extra="server", column="3.12-newest", promises="blocks", install_s=1.0, run_s=2.0),
        Cell(extra="server", column="3.11-lowest", promises="blocks keys", install_s=3.0),
        Cell(extra="audit", column="3.12-newest", promises="audit", processor_s=4.0),
    ]
    reports = [
        _report("passed", cells[0]),
        _report("passed", cells[0], when="teardown"),
        _report("failed", cells[1]),
        _report("passed", cells[2]),
    ]
    head, audit, server, count, times, *rest = lines(reports)
    assert head.split() == ["3.11-lowest", "3.12-newest"]
    assert audit.split() == "audit - green 0.0 + 0.0 s".split()
    assert server.split() == "server RED 3.0 + 0.0 s green 1.0 + 2.0 s".split()
    assert count.startswith("3 cells, 1 red")
    assert times == "all cells: 6 s one after the other, 4 s of processor time"
    assert "  server         blocks keys (3.11-lowest)" in rest


def test_a_run_without_cells_has_no_table() -> None:
    other = SimpleNamespace(when="call", outcome="passed", user_properties=[])
    assert list(lines([other, SimpleNamespace()])) == []
