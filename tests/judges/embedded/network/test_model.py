import multiprocessing
import os
import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network import model as module
from taskshield.judges.embedded.network import model_files
from taskshield.judges.embedded.network.encoding import SILENT, load_tokenizer, output_ids, pair_ids
from taskshield.judges.embedded.network.model import Model, shared
from tests.judges.embedded import tiny_model

TOKENIZER = load_tokenizer(tiny_model.tokenizer().to_str().encode())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model.write(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return Model.load(folder)


def some_texts(number: int) -> list[str]:
    dice = random.Random(number)
    return [" ".join(dice.choices(tiny_model.WORDS[6:], k=dice.randint(0, 90))) for _ in range(40)]


PAIRS = list(zip(some_texts(1), some_texts(2), strict=True))


def expected(first: str, second: str) -> list[float]:
    one = pair_ids(TOKENIZER, first, second)
    return list(tiny_model.pair_logits(one.ids, one.types).tolist())


def test_a_pair_has_two_logits(model: Model) -> None:
    for pair in PAIRS:
        found = model.pair(*pair)
        np.testing.assert_allclose(found, expected(*pair), atol=1e-5)
        assert all(type(number) is float for number in found)


def test_tags_are_those_of_the_markers(model: Model) -> None:
    texts = some_texts(3)
    for number in range(1, 12):
        head, *pieces = texts[:number]
        found = model.tags(head, pieces)
        wanted = [
            tiny_model.token_logits(one.ids, one.types)[mark]
            for one in output_ids(TOKENIZER, head, pieces)
            for mark, _ in one.marks
        ]
        assert len(found) == len(pieces)
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        assert all(type(logit) is float for logit in found)


@pytest.mark.parametrize("count", [1, 2, 3, 17, 60])
def test_pieces_over_several_windows_have_one_logit_each(model: Model, count: int) -> None:
    pieces = [text + " a" for text in some_texts(4) * 2][:count]
    assert len(list(output_ids(TOKENIZER, "valve", pieces))) > count // 10
    assert len(model.tags("valve", pieces)) == count


class Watched:
    """A session that records its inputs."""

    def __init__(self, model: Model) -> None:
        self._session = model._session
        self.shapes: list[tuple[int, ...]] = []
        model._session = model._beside = self

    def run(self, outputs: list[str], given: dict[str, NDArray[np.int64]]) -> object:
        self.shapes.append(given["ids"].shape)
        assert given["ids"].shape == given["types"].shape == given["mask"].shape
        assert given["mask"].all()
        return self._session.run(outputs, given)


def test_of_a_very_long_output_only_what_the_prefilter_chooses_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model.write(tmp_path / "weights")
    pieces = [f"{'a ' * 80}{'valve' if n in (3, 8) else 'pump'}" for n in range(12)]
    whole = Model.load(folder).tags("", pieces)
    weights_of_words = np.zeros((len(tiny_model.WORDS), 2), np.float16)
    weights_of_words[tiny_model.WORDS.index("valve")] = 1
    np.save(folder / "glance.npy", weights_of_words)
    model_files.write_manifest(folder, "tiny", "1.0")
    monkeypatch.setattr(module, "MOST_READ", 3)
    model = Model.load(folder)
    watched = Watched(model)
    found = model.tags("", pieces)
    assert len(watched.shapes) == 3
    assert found[3] == whole[3] and found[8] == whole[8]
    unread = [n for n, logit in enumerate(found) if logit == SILENT]
    assert 5 <= len(unread) < 12 and not {3, 8} & set(unread)
    monkeypatch.setattr(module, "MOST_READ", 12)
    assert model.tags("", pieces) == whole


def test_a_score_does_not_depend_on_what_else_is_asked(folder: Path) -> None:
    one, other = Model.load(folder), Model.load(folder)
    watched = Watched(one)
    tags = one.tags("valve", some_texts(3))
    alone = [one.pair(*pair) for pair in PAIRS]
    assert all(rows == 1 for rows, _ in watched.shapes)
    assert len(watched.shapes) > len(PAIRS) + 5
    assert [other.pair(*pair) for pair in reversed(PAIRS)] == alone[::-1]
    assert other.tags("valve", some_texts(3)) == tags


def test_what_was_asked_before_is_not_computed_again(folder: Path) -> None:
    model = Model.load(folder)
    watched = Watched(model)
    asked = [model.pair("a", "b"), model.pair("b", "a"), model.tags("a", ["b"])]
    assert len(watched.shapes) == 3
    assert [model.pair("a", "b"), model.pair("b", "a"), model.tags("a", ["b"])] == asked
    assert len(watched.shapes) == 3
    model.tags("b", ["b"])
    assert len(watched.shapes) == 4


def test_only_what_was_asked_last_is_remembered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 2)
    model = Model.load(folder)
    watched = Watched(model)
    for first in "abacab":
        model.pair(first, "x")
    # a and b are new, a is known, c is new and drives out b, a is known, b is new again
    assert len(watched.shapes) == 4
    model.pair("a", "x")
    model.pair("c", "x")
    assert len(watched.shapes) == 5


def test_an_answer_that_is_none_is_not_remembered(folder: Path) -> None:
    model = Model.load(folder)
    session = model._session

    class Broken:
        def run(self, outputs: list[str], given: object) -> list[NDArray[np.float32]]:
            return [np.array([[np.nan, 0.0]], np.float32)]

    model._session = Broken()
    for _ in range(2):
        with pytest.raises(ModelError, match="no number"):
            model.pair("a", "b")
    model._session = session
    np.testing.assert_allclose(model.pair("a", "b"), expected("a", "b"), atol=1e-5)


def test_the_model_says_what_it_is_and_how_to_decide(model: Model) -> None:
    assert model.label.startswith("tiny-1.0@")
    assert model.decision == b'{"threshold": 0.5}\n'


def test_many_threads_may_share_a_model(folder: Path) -> None:
    one, other = Model.load(folder), Model.load(folder)
    alone = [one.pair(*pair) for pair in PAIRS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pair: other.pair(*pair), PAIRS * 4)) == alone * 4


def test_numbers_that_are_none_are_never_an_answer(tmp_path: Path) -> None:
    broken = tiny_model.onnx_model(scale=float("nan"))
    model = Model.load(tiny_model.write(tmp_path, model=broken))
    with pytest.raises(ModelError, match="no number"):
        model.pair("a", "b")
    with pytest.raises(ModelError, match="no number"):
        model.tags("a", ["b"])
    assert model.tags("a", []) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot load"),
        (b"no model at all", "cannot load"),
        (tiny_model.onnx_model()[:-50], "cannot load"),
        (tiny_model.onnx_model(output="other"), "unexpected inputs or outputs"),
    ],
)
def test_a_file_that_is_no_such_model_is_refused(
    tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        Model.load(tiny_model.write(tmp_path, model=content))


def test_a_damaged_model_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    folder = tiny_model.write(tmp_path)
    content = bytearray((folder / "model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.onnx does not match its hash"):
        Model.load(folder)


@pytest.fixture
def shipped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(model_files, "SHIPPED", folder)
    monkeypatch.setattr(module, "_SHARED", {})
    return folder


def test_the_shared_model_is_loaded_once_by_however_many_threads(
    shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[Path] = []
    verified = model_files.verified

    def counted(folder: Path) -> model_files.ModelFiles:
        loads.append(folder)
        return verified(folder)

    monkeypatch.setattr(model_files, "verified", counted)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: shared(), range(16)))
    assert len(found) == 1 and loads == [shipped]


def test_each_folder_has_a_shared_model_of_its_own(shipped: Path, tmp_path: Path) -> None:
    other = tiny_model.write(tmp_path / "other")
    assert shared(other) is shared(other) is not shared()
    assert shared(shipped) is shared()


def test_a_shared_model_that_could_not_be_loaded_is_tried_again(
    shipped: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(model_files, "SHIPPED", tmp_path / "nowhere")
    with pytest.raises(ModelError, match="missing"):
        shared()
    monkeypatch.setattr(model_files, "SHIPPED", shipped)
    assert shared().label.startswith("tiny")


def asked_in_a_worker(folder: Path) -> tuple[float, float]:
    return Model.load(folder).pair("a valve", "pumps")


def test_worker_processes_load_a_model_each(folder: Path, model: Model) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context) as pool:
        found = list(pool.map(asked_in_a_worker, [folder] * 2))
    assert found == [model.pair("a valve", "pumps")] * 2


def run(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("ORT_")}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=inherited | environment,
    )


FORKED = """
import os, sys
from pathlib import Path
from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network import model, model_files
model_files.SHIPPED = Path(sys.argv[1])
held = model.shared()
asked = ("a valve", "pumps")
before = held.pair(*asked)
child = os.fork()
if child == 0:
    for ask in (lambda: held.pair(*asked), lambda: held.tags(*asked)):
        try:
            ask()
        except ModelError as error:
            print(error)
    print(model.shared() is not held and model.shared().pair(*asked) == before, flush=True)
    os._exit(0)
os.waitpid(child, 0)
assert held.pair(*asked) == before
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_is_refused_its_parents_model_and_shares_its_own(folder: Path) -> None:
    done = run(FORKED, folder)
    *told, works = done.stdout.splitlines()
    assert len(told) == 2 and all("before this process was forked" in one for one in told)
    assert works == "True"
    assert done.stderr == ""


LOADED = """
import sys
from pathlib import Path
from taskshield.judges.embedded.network.model import Model
Model.load(Path(sys.argv[1])).pair("a valve", "pumps")
"""


def test_loading_and_asking_prints_nothing_and_leaves_nothing_behind(
    folder: Path, tmp_path: Path
) -> None:
    done = run(LOADED, folder, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_loads_neither_numpy_nor_the_runtime() -> None:
    heavy = ["numpy", "onnxruntime", "tokenizers"]
    code = f"import sys, taskshield; print([m for m in {heavy!r} if m in sys.modules])"
    assert run(code).stdout.strip() == "[]"


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 2), (64, 2), (None, 1)], ids=str)
@pytest.mark.parametrize("affinity", [True, False])
def test_a_model_takes_two_threads_at_most(
    monkeypatch: pytest.MonkeyPatch, processors: int | None, threads: int, affinity: bool
) -> None:
    if affinity:
        usable = range(1 if processors is None else processors)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: usable, raising=False)
    else:
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert module._threads() == threads


def test_after_the_caller_gave_up_nothing_is_computed(folder: Path) -> None:
    stop = Event()
    model = Model.load(folder)
    assert model.tags("a", ["b"], stop) == model.tags("a", ["b"])
    stop.set()
    with pytest.raises(ModelError, match="no longer waits"):
        model.tags("a", ["b"], stop)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_several_pairs_at_once_give_the_scores_of_each(folder: Path, count: int) -> None:
    one, other = Model.load(folder, threads=2), Model.load(folder, threads=1)
    asked = PAIRS[:count]
    found = one.pairs(asked)
    assert len(found) == count == len(other.pairs(asked))
    for scores, pair in zip(found, asked, strict=True):
        assert scores == pytest.approx(other.pair(*pair), abs=1e-5)


@pytest.mark.parametrize("broken", [0, 1])
def test_an_error_on_either_side_is_raised_once_both_are_over(folder: Path, broken: int) -> None:
    model = Model.load(folder, threads=2)
    beside = model._beside
    ended: list[tuple[int, ...]] = []

    class Broken:
        def run(self, outputs: list[str], given: dict[str, NDArray[np.int64]]) -> object:
            if given["ids"].shape == sizes[broken]:
                raise ZeroDivisionError
            found = beside.run(outputs, given)
            ended.append(given["ids"].shape)
            return found

    asked = [("a", "b"), ("a b c", "b c")]
    sizes = [(1, 5), (1, 8)]
    model._beside = Broken()
    with pytest.raises(ZeroDivisionError):
        model.pairs(asked)
    assert ended == [sizes[1 - broken]]
    model._beside = beside
    assert len(model.pairs(asked)) == 2


def test_with_other_checks_running_none_waits_for_the_second_session(folder: Path) -> None:
    model = Model.load(folder, threads=2)
    with model._side_taken:
        asked = model.pairs(PAIRS[:3])
        assert model._side is not None and not model._side._threads
    again = Model.load(folder, threads=2).pairs(PAIRS[:3])
    for one, other in zip(asked, again, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_two_sides_take_about_as_long() -> None:
    assert module._halves([130, 70, 60]) == ([0], [1, 2])
    assert module._halves([1, 9]) == ([1], [0])
    assert module._halves([]) == ([], [])
