import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from taskshield.core.errors import ConfigError
from taskshield.judges.embedded.network.encoding import Encoded
from taskshield_lab.training.network.network import (
    Layer,
    Network,
    load_base,
    load_network,
    save_network,
)
from taskshield_lab.training.network.onnx_export import onnx_scores, to_onnx
from tests.lab.training import tiny_base


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tiny_base.write(tmp_path / "base")


def said(network: Network, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(3)
    ids = torch.randint(0, len(tiny_base.WORDS), shape, generator=chance)
    with torch.no_grad():
        tags, pair = network.eval()(ids, torch.zeros_like(ids), torch.ones_like(ids))
    return tags, pair


def test_a_network_begins_with_the_weights_of_its_base(base: Path) -> None:
    network, stored = load_base(base), tiny_base.tensors()
    state = network.state_dict()
    for ours, theirs in {
        "words.weight": "embeddings.word_embeddings.weight",
        "types.weight": "embeddings.token_type_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
        "layers.0.query.weight": "encoder.layer.0.attention.self.query.weight",
        "layers.1.key.bias": "encoder.layer.1.attention.self.key.bias",
        "layers.1.output.weight": "encoder.layer.1.attention.output.dense.weight",
        "layers.0.first_norm.weight": "encoder.layer.0.attention.output.LayerNorm.weight",
        "layers.0.widen.weight": "encoder.layer.0.intermediate.dense.weight",
        "layers.1.narrow.weight": "encoder.layer.1.output.dense.weight",
        "layers.1.second_norm.bias": "encoder.layer.1.output.LayerNorm.bias",
    }.items():
        assert torch.equal(state[ours], stored[theirs]), ours
    assert len(state) == 3 + 2 + 2 * 16 + 4


def test_the_encoder_is_a_bert(base: Path) -> None:
    """One layer, written out again from its definition."""
    stored = tiny_base.tensors()
    network = load_base(base)
    ids = torch.tensor([[2, 30, 31, 3]])

    def dense(name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ stored[f"{name}.weight"].T + stored[f"{name}.bias"]

    def norm(name: str, x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        even = centred / (x.var(-1, unbiased=False, keepdim=True) + 1e-12).sqrt()
        return even * stored[f"{name}.weight"] + stored[f"{name}.bias"]

    words = stored["embeddings.word_embeddings.weight"][ids[0]]
    places = stored["embeddings.position_embeddings.weight"][:4]
    x = words + places + stored["embeddings.token_type_embeddings.weight"][0]
    x = norm("embeddings.LayerNorm", x)
    for number in range(2):
        name = f"encoder.layer.{number}"
        q, k, v = (
            dense(f"{name}.attention.self.{part}", x).view(4, 2, 8).transpose(0, 1)
            for part in ("query", "key", "value")
        )
        mixed = ((q @ k.transpose(1, 2) / 8**0.5).softmax(-1) @ v).transpose(0, 1).reshape(4, 16)
        x = norm(
            f"{name}.attention.output.LayerNorm", x + dense(f"{name}.attention.output.dense", mixed)
        )
        inner = dense(f"{name}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + torch.erf(inner / 2**0.5))
        x = norm(f"{name}.output.LayerNorm", x + dense(f"{name}.output.dense", inner))
    with torch.no_grad():
        tags, pair = network.eval()(ids, torch.zeros_like(ids), torch.ones_like(ids))
        torch.testing.assert_close(tags[0], network.tags(x)[:, 0], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(pair[0], network.pair(x.mean(0)), atol=1e-4, rtol=1e-4)


def test_names_may_begin_with_bert(tmp_path: Path, base: Path) -> None:
    other = load_base(tiny_base.write(tmp_path / "other", prefix="bert."))
    state = load_base(base).state_dict()
    heads = ("tags", "pair")
    for name, tensor in other.state_dict().items():
        assert name.startswith(heads) or torch.equal(tensor, state[name])


MPNET = {
    **{name: tiny_base.CONFIG[name] for name in tiny_base.CONFIG if name != "type_vocab_size"},
    "model_type": "mpnet",
    "pad_token_id": 1,
    "layer_norm_eps": 1e-5,
    "relative_attention_num_buckets": 32,
}


def as_mpnet(base: Path) -> dict[str, torch.Tensor]:
    """Make the encoder of a folder an MPNet; returns its weights."""
    renamed = {
        name.replace("attention.self.query", "attention.attn.q")
        .replace("attention.self.key", "attention.attn.k")
        .replace("attention.self.value", "attention.attn.v")
        .replace("attention.output.dense", "attention.attn.o")
        .replace("attention.output.LayerNorm", "attention.LayerNorm"): tensor
        for name, tensor in tiny_base.tensors().items()
        if "token_type" not in name
    }
    chance = torch.Generator().manual_seed(11)
    distances = torch.randn(32, 2, generator=chance)
    renamed["encoder.relative_attention_bias.weight"] = distances
    save_file(renamed, base / "model.safetensors")
    (base / "config.json").write_text(json.dumps(MPNET))
    return renamed


def kind_of_distance(ahead: int) -> int:
    """As the paper of the T5 tells it, from which MPNet has it: 8 near ones, 8 far ones, twice."""
    far = abs(ahead)
    kind = far if far < 8 else min(15, 8 + int(math.log(far / 8) / math.log(128 / 8) * 8))
    return kind + 16 if ahead > 0 else kind


def test_an_mpnet_is_an_encoder_as_well(base: Path) -> None:
    """The first layer, written out again from its definition, for words near and far apart."""
    stored = as_mpnet(base)
    network = load_base(base).eval()
    size = 150
    ids = torch.arange(size)[None] % len(tiny_base.WORDS)
    even = torch.nn.functional.layer_norm

    def dense(name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ stored[f"{name}.weight"].T + stored[f"{name}.bias"]

    def norm(name: str, x: torch.Tensor) -> torch.Tensor:
        return even(x, (16,), stored[f"{name}.weight"], stored[f"{name}.bias"], eps=1e-5)

    words = stored["embeddings.word_embeddings.weight"][ids[0]]
    x = norm(
        "embeddings.LayerNorm",
        words + stored["embeddings.position_embeddings.weight"][2 : size + 2],
    )
    layer = "encoder.layer.0"
    q, k, v = (
        dense(f"{layer}.attention.attn.{part}", x).view(size, 2, 8).transpose(0, 1)
        for part in "qkv"
    )
    kinds = [[kind_of_distance(to - place) for to in range(size)] for place in range(size)]
    apart = stored["encoder.relative_attention_bias.weight"][torch.tensor(kinds)].permute(2, 0, 1)
    mixed = ((q @ k.transpose(1, 2) / 8**0.5 + apart).softmax(-1) @ v).transpose(0, 1)
    x = norm(
        f"{layer}.attention.LayerNorm",
        x + dense(f"{layer}.attention.attn.o", mixed.reshape(size, 16)),
    )
    inner = torch.nn.functional.gelu(dense(f"{layer}.intermediate.dense", x))
    x = norm(f"{layer}.output.LayerNorm", x + dense(f"{layer}.output.dense", inner))

    told: list[torch.Tensor] = []
    network.layers[0].register_forward_hook(lambda _, __, found: told.append(found[0]))
    with torch.no_grad():
        network(ids, torch.ones_like(ids), torch.ones_like(ids))
    torch.testing.assert_close(told[0], x, atol=1e-4, rtol=1e-4)


def test_an_mpnet_is_saved_and_becomes_a_file_to_ship(base: Path, tmp_path: Path) -> None:
    as_mpnet(base)
    network = load_base(base)
    save_network(network, tmp_path / "network.safetensors")
    again = load_network(tmp_path / "network.safetensors", base)
    to_onnx(again, tmp_path / "full.onnx")
    sequence = Encoded(ids=[2, *range(30, 70), 3], types=[0] * 42, marks=((4, 0),))
    (shipped,) = onnx_scores(tmp_path / "full.onnx", [sequence])
    ids = torch.tensor([sequence.ids])
    with torch.no_grad():
        tags, pair = again.eval()(ids, torch.zeros_like(ids), torch.ones_like(ids))
    expected = torch.cat([tags[0, 4:5], pair[0]])
    torch.testing.assert_close(torch.from_numpy(shipped), expected, atol=1e-4, rtol=1e-4)


def test_there_is_a_logit_for_every_token_and_two_for_every_sequence(base: Path) -> None:
    tags, pair = said(load_base(base), 3, 11)
    assert tags.shape == (3, 11) and pair.shape == (3, 2)


def spoil(base: Path, how: str) -> None:
    path, config = base / "model.safetensors", dict(tiny_base.CONFIG)
    match how:
        case "a weight is missing":
            save_file({n: t for n, t in load_file(path).items() if "1.output" not in n}, path)
        case "another width":
            config["hidden_size"] = 32
        case "more layers":
            config["num_hidden_layers"] = 3
        case "other names":
            save_file({f"roberta.{n}": t for n, t in load_file(path).items()}, path)
        case "no safetensors":
            path.write_bytes(b"no weights at all")
        case "a field is missing":
            del config["vocab_size"]
    (base / "config.json").write_text(json.dumps(config) if how != "no JSON" else "{")


@pytest.mark.parametrize(
    "how",
    [
        "a weight is missing",
        "another width",
        "more layers",
        "other names",
        "no safetensors",
        "a field is missing",
        "no JSON",
    ],
)
def test_a_folder_that_holds_something_else_is_refused_by_name(base: Path, how: str) -> None:
    spoil(base, how)
    with pytest.raises(ConfigError, match=r"base does not have a BERT or MPNet encoder"):
        load_base(base)


def test_a_saved_network_says_the_same_again(base: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = load_base(base)
    path = tmp_path / "network.safetensors"
    save_network(network, path)
    again = load_network(path, base)
    for name, tensor in again.state_dict().items():
        assert tensor.dtype is torch.float32
        assert torch.equal(tensor, network.state_dict()[name].half().float())
    for one, other in zip(said(network, 2, 9), said(again, 2, 9), strict=True):
        torch.testing.assert_close(one, other, atol=0.02, rtol=0.01)
    save_network(again, path)
    twice = load_network(path, base)
    for one, other in zip(said(again, 2, 9), said(twice, 2, 9), strict=True):
        assert torch.equal(one, other)


def test_training_rounds_what_the_released_file_rounds(base: Path) -> None:
    layer = load_base(base).layers[0]
    assert isinstance(layer, Layer)
    layer.dropout.p = 0.0
    x, bias = torch.randn(2, 5, layer.query.in_features), torch.zeros(2, 1, 1, 5)
    exact, rounded = layer.eval()(x, bias), layer.train()(x, bias)
    assert not torch.equal(exact, rounded)
    assert torch.allclose(exact, rounded, atol=0.1)
    rounded.sum().backward()
    assert layer.narrow.weight.grad is not None and layer.widen.weight.grad is not None
    assert layer.narrow.weight.grad.abs().sum() > 0


def test_every_sequence_is_rounded_by_itself(base: Path) -> None:
    layer = load_base(base).layers[0]
    assert isinstance(layer, Layer)
    layer.dropout.p = 0.0
    x, bias = torch.randn(2, 5, layer.query.in_features), torch.zeros(2, 1, 1, 5)
    louder = torch.stack([x[0], 50 * x[1]])
    torch.testing.assert_close(layer.train()(x, bias)[0], layer.train()(louder, bias)[0])
