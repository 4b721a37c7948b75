from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from taskshield.judges.embedded.network.encoding import Encoded, output_ids, pair_ids
from taskshield_lab.training.examples.output_examples import OutputExample
from taskshield_lab.training.network import training_loop
from taskshield_lab.training.network.batches import TokenExamples
from taskshield_lab.training.network.labelled_tokens import (
    ASKS,
    SERVES,
    TokenExample,
    output_token_examples,
    pair_token_example,
)
from taskshield_lab.training.network.network import Network, load_base
from taskshield_lab.training.network.training_loop import Schedule, predict, train
from tests.lab.training import tiny_base

TOKENIZER = tiny_base.tokenizer()
FAST = Schedule(epochs=120, rate=5e-3, batch_examples=32, seed=3)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base.write(tmp_path_factory.mktemp("base"))


def fresh(base: Path) -> Network:
    torch.manual_seed(2)
    return load_base(base)


def quiet(_: str) -> None:
    pass


def toy(seed: int, count: int = 96) -> list[TokenExample]:
    """Whether both texts name the valve is asked by one head; the other wants the opposite."""
    rng = Random(seed)
    examples = []
    for _ in range(count):
        thing = rng.choice(("valve", "pump"))
        filler = " ".join(rng.choices("abcde", k=rng.randint(1, 6)))
        head = rng.choice((ASKS, SERVES))
        right = float((thing == "valve") == (head == ASKS))
        examples.append(pair_token_example((filler, f"open {thing}"), head, right, TOKENIZER))
    return examples


def toy_outputs(seed: int, count: int = 64) -> list[TokenExample]:
    """A segment that names the pump and the valve directs the agent."""
    rng = Random(seed)
    outputs = []
    for _ in range(count):
        injected = rng.randrange(3)
        pieces = ["a b c d e", "b c a", "d e"]
        pieces[injected] = "open the pump valve now"
        labels = ["benign"] * 3
        labels[injected] = "attack"
        outputs.append(
            OutputExample(message=0, head="a", pieces=tuple(pieces), labels=tuple(labels))  # type: ignore[arg-type]
        )
    return list(output_token_examples(outputs, TOKENIZER, rng))


def loss(network: Network, examples: list[TokenExample]) -> float:
    with torch.no_grad():
        packed, whole = TokenExamples.of(examples), range(len(examples))
        return float(training_loop._loss(network.eval(), packed, whole, training_loop.device()))


def right_share(network: Network, examples: list[TokenExample]) -> float:
    tags, pairs = predict(network, [example.sequence for example in examples])
    hits = []
    for example, row, pair in zip(examples, tags, pairs, strict=True):
        said = {place: logit for (place, _), logit in zip(example.sequence.marks, row, strict=True)}
        for one in example.targets:
            logit = said[one.position] if one.head is None else pair[one.head]
            hits.append((logit > 0) == (one.value > 0.5))
    return float(np.mean(hits))


@pytest.mark.parametrize("made", [toy, toy_outputs])
def test_a_tiny_network_learns_a_plain_rule(base: Path, made: object) -> None:
    assert callable(made)
    network = fresh(base)
    before = loss(network, made(9))
    train(network, TokenExamples.of(made(1)), FAST, quiet)
    assert loss(network, made(9)) < before / 3
    assert right_share(network, made(9)) > 0.95


def test_the_same_seed_gives_the_same_network(base: Path) -> None:
    def taught(seed: int) -> dict[str, torch.Tensor]:
        network = fresh(base)
        schedule = Schedule(epochs=1, rate=1e-3, batch_examples=16, seed=seed)
        train(network, TokenExamples.of(toy(1, 48) + toy_outputs(1, 16)), schedule, quiet)
        return network.state_dict()

    one, same, other = taught(1), taught(1), taught(2)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_wrong_answers_cost_more_where_they_weigh_more(base: Path) -> None:
    network = fresh(base)
    pair = ("a", "open valve")
    costs = [
        loss(network, [pair_token_example(pair, ASKS, 1.0, TOKENIZER, weight)])
        for weight in (1.0, 2.0, 0.5)
    ]
    assert costs[1] == pytest.approx(2 * costs[0]) and costs[2] == pytest.approx(costs[0] / 2)


def test_every_target_is_compared_with_its_own_head_on_its_own_example(base: Path) -> None:
    network = fresh(base).eval()
    examples = [*toy(4, 7), *toy_outputs(4, 5), *toy(5, 3)]
    tags, pairs = predict(network, [example.sequence for example in examples])
    costs = []
    for example, row, pair in zip(examples, tags, pairs, strict=True):
        said = {place: logit for (place, _), logit in zip(example.sequence.marks, row, strict=True)}
        for one in example.targets:
            logit = said[one.position] if one.head is None else float(pair[one.head])
            wanted = 0.98 if one.value else 0.02
            chance = 1 / (1 + np.exp(-logit))
            costs.append(
                -one.weight * (wanted * np.log(chance) + (1 - wanted) * np.log(1 - chance))
            )
    assert loss(network, examples) == pytest.approx(sum(costs) / len(examples), rel=1e-4)


def test_a_head_is_trained_by_its_own_examples_only(base: Path) -> None:
    network = fresh(base)
    for examples, heads in (
        ([pair_token_example(("a", "b"), ASKS, 1.0, TOKENIZER)], {"asks"}),
        ([pair_token_example(("a", "b"), SERVES, 1.0, TOKENIZER)], {"serves"}),
        (toy_outputs(1, 2), {"tags"}),
    ):
        network.zero_grad()
        lost = training_loop._loss(network, TokenExamples.of(examples), range(len(examples)), "cpu")
        lost.backward()  # type: ignore[no-untyped-call]
        tags, pair = network.tags.weight.grad, network.pair.weight.grad
        assert tags is not None and pair is not None
        moved = {"tags": tags, "asks": pair[ASKS], "serves": pair[SERVES]}
        assert {name for name, one in moved.items() if one.abs().sum() > 0} == heads


@pytest.mark.parametrize("words", [True, False])
def test_word_embeddings_are_trained_if_the_schedule_says_so(base: Path, words: bool) -> None:
    network = fresh(base)
    before = {name: one.clone() for name, one in network.state_dict().items()}
    train(
        network,
        TokenExamples.of(toy(1, 8)),
        Schedule(epochs=2, rate=1e-3, train_embeddings=words),
        quiet,
    )
    same = {name for name, one in network.state_dict().items() if torch.equal(before[name], one)}
    assert "layers.0.query.weight" not in same and ("words.weight" in same) is not words


def test_less_than_one_step_trains_nothing(base: Path) -> None:
    network = fresh(base)
    before = {name: one.clone() for name, one in network.state_dict().items()}
    train(network, TokenExamples.of(toy(1, 8)), Schedule(epochs=0.5), quiet)
    train(network, TokenExamples.of([]), Schedule(), quiet)
    assert all(torch.equal(before[name], one) for name, one in network.state_dict().items())


@pytest.mark.parametrize(("epochs", "steps"), [(0.5, 2), (1, 4), (2.5, 10)])
def test_parts_of_an_epoch_are_counted_in_steps(
    base: Path, monkeypatch: pytest.MonkeyPatch, epochs: float, steps: int
) -> None:
    taught: list[int] = []
    plain = training_loop._loss

    def counted(
        network: Network, examples: TokenExamples, batch: Sequence[int], where: str
    ) -> torch.Tensor:
        taught.append(len(batch))
        return plain(network, examples, batch, where)

    monkeypatch.setattr(training_loop, "_loss", counted)
    schedule = Schedule(epochs=epochs, batch_examples=4)
    train(fresh(base), TokenExamples.of(toy(1, 16)), schedule, quiet)
    assert taught == [4] * steps


def test_long_training_logs_its_progress(base: Path) -> None:
    told: list[str] = []
    train(fresh(base), TokenExamples.of(toy(1, 1)), Schedule(epochs=500), told.append)
    assert len(told) == 1 and told[0].startswith("Step 500 of 500, loss ")


def sequences() -> list[Encoded]:
    rng = Random(6)
    texts = [" ".join(rng.choices(("valve", "pump", "a", "b7"), k=k)) for k in range(1, 60, 3)]
    pairs = [pair_ids(TOKENIZER, text, "open") for text in texts]
    return [*pairs, *output_ids(TOKENIZER, "read", texts)]


def test_an_answer_depends_on_neither_order_nor_neighbours(base: Path) -> None:
    network, asked = fresh(base), sequences()
    tags, pairs = predict(network, asked)
    assert [len(row) for row in tags] == [len(one.marks) for one in asked]
    order = list(range(len(asked)))
    Random(1).shuffle(order)
    other_tags, other_pairs = predict(network, [asked[number] for number in order])
    np.testing.assert_allclose(other_pairs, pairs[order], atol=1e-4)
    for place, number in enumerate(order):
        np.testing.assert_allclose(other_tags[place], tags[number], atol=1e-4)
    for number in (0, 7, len(asked) - 1):
        own_tags, own_pairs = predict(network, [asked[number]])
        np.testing.assert_allclose(own_pairs[0], pairs[number], atol=1e-4)
        np.testing.assert_allclose(own_tags[0], tags[number], atol=1e-4)


def test_asking_nothing_gives_nothing(base: Path) -> None:
    tags, pairs = predict(fresh(base), [])
    assert tags == [] and pairs.shape == (0, 2)


@pytest.mark.parametrize("rng", [None, Random(4)], ids=["in order", "shuffled"])
def test_batches_have_each_example_once_and_stay_small(
    rng: Random | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_loop, "_SORTED", 100)
    dice = Random(2)
    sizes = [dice.randint(3, 256) for _ in range(730)]
    schedule = Schedule(batch_tokens=1000, batch_examples=20)
    batches = list(training_loop._batches(sizes, schedule, rng))
    assert sorted(number for batch in batches for number in batch) == list(range(730))
    for batch in batches:
        assert 1 <= len(batch) <= 20
        assert len(batch) == 1 or max(sizes[number] for number in batch) * len(batch) <= 1000


def test_a_sequence_that_is_too_long_for_any_batch_is_alone() -> None:
    found = list(training_loop._batches([5, 500, 6], Schedule(batch_tokens=100), None))
    assert found == [[0, 2], [1]]


def test_batches_come_in_another_order_each_time() -> None:
    rng = Random(1)
    schedule = Schedule(batch_examples=4)
    once, again = (list(training_loop._batches([9] * 40, schedule, rng)) for _ in range(2))
    assert once != again
    assert once == list(training_loop._batches([9] * 40, schedule, Random(1)))
