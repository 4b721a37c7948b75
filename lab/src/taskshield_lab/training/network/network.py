"""The network: an encoder, with a head for segments of an output and two for pairs.

The encoder is a BERT, or an MPNet: a BERT whose attention knows how far words are apart.
"""

import copy
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from taskshield.core.errors import ConfigError


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, config: dict[str, Any], dropout: float) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        epsilon = _epsilon(config)
        self.heads = config["num_attention_heads"]
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.first_norm = nn.LayerNorm(width, eps=epsilon)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.second_norm = nn.LayerNorm(width, eps=epsilon)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """Attention, then two dense layers."""
        batch, tokens, width = x.shape
        query, key, value = (
            part(x).view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        mixed = mixed.transpose(1, 2).reshape(batch, tokens, width)
        x = self.first_norm(x + self.dropout(self.output(mixed)))
        inner = functional.gelu(self.widen(x))
        if self.training:  # what goes in here is skewed: learn to live with the shipped eight bits
            narrow, bias = self.narrow.weight, self.narrow.bias
            inner = functional.linear(_as_bytes(inner), _as_weights(narrow), bias)
        else:
            inner = self.narrow(inner)
        return self.second_norm(x + self.dropout(inner))  # type: ignore[no-any-return]


def _as_bytes(x: Tensor) -> Tensor:
    """Rounded as the shipped file rounds what goes into a layer: 256 steps for each sequence."""
    low, high = x.amin((1, 2), keepdim=True).clamp(max=0), x.amax((1, 2), keepdim=True)
    return _stepped(x, (high - low) / 255)


def _as_weights(weight: Tensor) -> Tensor:
    """Rounded as the shipped file rounds weights: 64 steps up and down for each output."""
    return _stepped(weight, weight.abs().amax(1, keepdim=True) / 64)


def _stepped(x: Tensor, step: Tensor) -> Tensor:
    """Rounded to whole steps; what is learned passes as if nothing had been rounded."""
    step = step.detach().clamp(min=1e-8)
    return x + (torch.round(x / step) * step - x).detach()


class Network(nn.Module):
    """Reads token ids; says of each token and of each whole sequence what the heads ask."""

    apart: Tensor

    def __init__(self, config: dict[str, Any], dropout: float = 0.1) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], width)
        self.types = nn.Embedding(config.get("type_vocab_size", 2), width)
        places = config["max_position_embeddings"] - _places_unused(config)
        self.positions = nn.Embedding(places, width)
        self.norm = nn.LayerNorm(width, eps=_epsilon(config))
        self.layers = nn.ModuleList(
            Layer(config, dropout) for _ in range(config["num_hidden_layers"])
        )
        self.distances: nn.Embedding | None = None
        if kinds := config.get("relative_attention_num_buckets"):
            self.distances = nn.Embedding(kinds, config["num_attention_heads"])
            self.register_buffer("apart", _apart(places, kinds), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.tags = nn.Linear(width, 1)
        self.pair = nn.Linear(width, 2)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """A logit for every token, and two for every sequence."""
        places = self.positions.weight[: ids.shape[1]][None]
        x = self.dropout(self.norm(self.words(ids) + self.types(types) + places))
        seen = mask.to(x.dtype)
        bias = (1.0 - seen)[:, None, None, :] * -1e4
        if self.distances is not None:
            apart = self.apart[: ids.shape[1], : ids.shape[1]]
            bias = bias + self.distances(apart).permute(2, 0, 1)[None].to(x.dtype)
        for layer in self.layers:
            x = layer(x, bias)
        x = self.dropout(x)
        mean = (x * seen[..., None]).sum(1) / seen.sum(1, keepdim=True)
        return self.tags(x)[..., 0], self.pair(mean)


def _epsilon(config: dict[str, Any]) -> float:
    return float(config.get("layer_norm_eps", 1e-12))


def _places_unused(config: dict[str, Any]) -> int:
    """MPNet counts places behind the id of its padding."""
    return config["pad_token_id"] + 1 if config.get("model_type") == "mpnet" else 0


def _apart(places: int, kinds: int) -> Tensor:
    """How far each place is from each other, as one of some kinds: a half for each direction.

    Of a half, the first half are distances of their own, the others grow with the logarithm.
    """
    place = torch.arange(places)
    ahead = place[None, :] - place[:, None]
    far, half = ahead.abs(), kinds // 2
    own = half // 2
    steps = torch.log(far.clamp(min=1) / own) / math.log(_FARTHEST / own) * (half - own)
    kind = torch.where(far < own, far, (own + steps.long()).clamp(max=half - 1))
    return kind + (ahead > 0) * half


_FARTHEST = 128
"""Places that are farther apart than this are all alike, to MPNet."""

_BEGINNING = 7
"""Seed of what an encoder has no weights for: the means of networks are taken."""
_DENSE_NAMES = {
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "second_norm": "output.LayerNorm",
}
_BERT_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "first_norm": "attention.output.LayerNorm",
    **_DENSE_NAMES,
}
_MPNET_NAMES = {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "output": "attention.attn.o",
    "first_norm": "attention.LayerNorm",
    **_DENSE_NAMES,
}


def config_of(base: Path) -> dict[str, Any]:
    """How an encoder is built, as the file beside its weights tells."""
    found: dict[str, Any] = json.loads((base / "config.json").read_text(encoding="utf-8"))
    return found


def from_base(folder: Path) -> Network:
    """A network that begins with the weights of an encoder (config.json, model.safetensors).

    All that begin with the same encoder are the same.

    Raises:
        ConfigError: The folder does not hold such an encoder.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    torch.manual_seed(_BEGINNING)
    try:
        config = config_of(folder)
        network = Network(config)
        _begin(network, load_file(folder / "model.safetensors"), config)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(f"{folder} does not hold the encoder that is expected") from error
    return network


def _begin(network: Network, stored: dict[str, Tensor], config: dict[str, Any]) -> None:
    """Give a network the weights of an encoder; its heads keep their own."""
    base = {name.removeprefix("bert."): tensor.float() for name, tensor in stored.items()}
    own = {
        "words.weight": base["embeddings.word_embeddings.weight"],
        "positions.weight": base["embeddings.position_embeddings.weight"][_places_unused(config) :],
    }
    if network.distances is None:
        names = _BERT_NAMES
        own["types.weight"] = base["embeddings.token_type_embeddings.weight"]
    else:
        names = _MPNET_NAMES
        own["types.weight"] = torch.zeros_like(network.types.weight)  # it knows of none
        own["distances.weight"] = base["encoder.relative_attention_bias.weight"]
    for kind in ("weight", "bias"):
        own[f"norm.{kind}"] = base[f"embeddings.LayerNorm.{kind}"]
        for number in range(len(network.layers)):
            for ours, theirs in names.items():
                own[f"layers.{number}.{ours}.{kind}"] = base[
                    f"encoder.layer.{number}.{theirs}.{kind}"
                ]
    lacking = network.load_state_dict(own, strict=False)
    heads = {"tags.weight", "tags.bias", "pair.weight", "pair.bias"}
    if set(lacking.missing_keys) != heads or lacking.unexpected_keys:
        raise ValueError("the names of the weights are not those of the network")


def mean_of(networks: Sequence[Network]) -> Network:
    """A network whose weights are the means of theirs, which must have begun alike."""
    states = [network.cpu().state_dict() for network in networks]
    mean = copy.deepcopy(networks[0])
    mean.load_state_dict(
        {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
    )
    return mean


def saved(network: Network, path: Path) -> None:
    """Write a network's weights, in half precision."""
    from safetensors.torch import save_file

    save_file({name: one.detach().cpu().half() for name, one in network.state_dict().items()}, path)


def loaded(path: Path, base: Path) -> Network:
    """A network whose weights were saved; the base says how it is built."""
    from safetensors.torch import load_file

    network = Network(config_of(base))
    network.load_state_dict({name: one.float() for name, one in load_file(path).items()})
    return network
