from pathlib import Path

from tests import conftest
from tests.selection import KINDS, PLACES, kinds_of, touched_tests

TESTS = Path(__file__).parent


def test_every_place_exists_and_every_kind_has_one() -> None:
    assert set(PLACES) == set(KINDS)
    for place in {place for places in PLACES.values() for place in places}:
        assert (TESTS / place).exists(), place
    for place in conftest._NOT_COVERED:
        assert (TESTS / place).exists(), place
    for name in conftest._LONGEST:
        assert len(list(TESTS.rglob(name))) == 1, name


def test_a_place_is_a_whole_folder_or_file() -> None:
    assert kinds_of("server/test_app.py") == {"server"}
    assert kinds_of("server_of_another_name/test_app.py") == set()
    assert kinds_of("core/test_history.py") == set()


def test_a_changed_module_touches_the_tests_that_import_it() -> None:
    touched = touched_tests([Path("src/taskshield/core/safe_text.py")])
    assert Path("tests/core/test_safe_text.py") in touched
    assert Path("tests/core/test_history.py") not in touched


def test_a_changed_test_touches_itself_and_other_files_touch_nothing() -> None:
    test = Path("tests/core/test_history.py")
    assert touched_tests([test]) == {test}
    assert touched_tests([Path("README.md"), Path("gone/test_nothing.py")]) == set()
