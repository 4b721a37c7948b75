"""The network: an encoder with one head for segments of an output and two for pairs.

The encoder is a BERT or an MPNet, a BERT whose attention has a bias for the distance of tokens.
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
        if (
            self.training
        ):  # inputs are skewed here: train with the rounding of the released int8 file
            narrow, bias = self.narrow.weight, self.narrow.bias
            inner = functional.linear(_as_bytes(inner), _as_weights(narrow), bias)
        else:
            inner = self.narrow(inner)
        return self.second_norm(x + self.dropout(inner))  # type: ignore[no-any-return]


def _as_bytes(x: Tensor) -> Tensor:
    """Rounded as the released file rounds inputs of a layer: 256 steps for each sequence."""
    low, high = x.amin((1, 2), keepdim=True).clamp(max=0), x.amax((1, 2), keepdim=True)
    return _stepped(x, (high - low) / 255)


def _as_weights(weight: Tensor) -> Tensor:
    """Rounded as the released file rounds weights: 64 steps up and down for each output."""
    return _stepped(weight, weight.abs().amax(1, keepdim=True) / 64)


def _stepped(x: Tensor, step: Tensor) -> Tensor:
    """Rounded to whole steps; the gradient passes as if nothing had been rounded."""
    step = step.detach().clamp(min=1e-8)
    return x + (torch.round(x / step) * step - x).detach()


class Network(nn.Module):
    """The encoder with its heads."""

    apart: Tensor

    def __init__(self, config: dict[str, Any], dropout: float = 0.1) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.words = nn.Embedding(config["vocab_size"], width)
        self.types = nn.Embedding(config.get("type_vocab_size", 2), width)
        places = config["max_position_embeddings"] - _unused_positions(config)
        self.positions = nn.Embedding(places, width)
        self.norm = nn.LayerNorm(width, eps=_epsilon(config))
        self.layers = nn.ModuleList(
            Layer(config, dropout) for _ in range(config["num_hidden_layers"])
        )
        self.distances: nn.Embedding | None = None
        if kinds := config.get("relative_attention_num_buckets"):
            self.distances = nn.Embedding(kinds, config["num_attention_heads"])
            self.register_buffer("apart", _distance_buckets(places, kinds), persistent=False)
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


def _unused_positions(config: dict[str, Any]) -> int:
    """MPNet numbers positions after the id of its padding."""
    return config["pad_token_id"] + 1 if config.get("model_type") == "mpnet" else 0


def _distance_buckets(places: int, kinds: int) -> Tensor:
    """The bucket of the distance between any two positions: one half for each direction.

    In a half, the first half of the buckets are single distances; the others grow with the
    logarithm.
    """
    place = torch.arange(places)
    ahead = place[None, :] - place[:, None]
    far, half = ahead.abs(), kinds // 2
    own = half // 2
    steps = torch.log(far.clamp(min=1) / own) / math.log(_LONGEST_DISTANCE / own) * (half - own)
    kind = torch.where(far < own, far, (own + steps.long()).clamp(max=half - 1))
    return kind + (ahead > 0) * half


_LONGEST_DISTANCE = 128
"""MPNet puts all larger distances into one bucket."""

_HEAD_SEED = 7
"""Seed of the heads. Networks whose heads begin alike can be averaged."""
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


def read_config(base: Path) -> dict[str, Any]:
    """The configuration of an encoder, from the file beside its weights."""
    found: dict[str, Any] = json.loads((base / "config.json").read_text(encoding="utf-8"))
    return found


def load_base(folder: Path) -> Network:
    """A network with the weights of an encoder (config.json, model.safetensors).

    The same encoder always gives the same network.

    Raises:
        ConfigError: The folder does not hold such an encoder.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    torch.manual_seed(_HEAD_SEED)
    try:
        config = read_config(folder)
        network = Network(config)
        _load_encoder(network, load_file(folder / "model.safetensors"), config)
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"The folder {folder} does not have a BERT or MPNet encoder with the expected weights."
        ) from error
    return network


def _load_encoder(network: Network, stored: dict[str, Tensor], config: dict[str, Any]) -> None:
    """Load the weights of an encoder; the heads keep their own."""
    base = {name.removeprefix("bert."): tensor.float() for name, tensor in stored.items()}
    own = {
        "words.weight": base["embeddings.word_embeddings.weight"],
        "positions.weight": base["embeddings.position_embeddings.weight"][
            _unused_positions(config) :
        ],
    }
    if network.distances is None:
        names = _BERT_NAMES
        own["types.weight"] = base["embeddings.token_type_embeddings.weight"]
    else:
        names = _MPNET_NAMES
        own["types.weight"] = torch.zeros_like(network.types.weight)  # MPNet has none
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


def mean_network(networks: Sequence[Network]) -> Network:
    """The network with the mean weights of networks that began with the same weights."""
    states = [network.cpu().state_dict() for network in networks]
    mean = copy.deepcopy(networks[0])
    mean.load_state_dict(
        {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
    )
    return mean


def save_network(network: Network, path: Path) -> None:
    """Save a network's weights in half precision."""
    from safetensors.torch import save_file

    save_file({name: one.detach().cpu().half() for name, one in network.state_dict().items()}, path)


def load_network(path: Path, base: Path) -> Network:
    """A saved network; the base has its configuration."""
    from safetensors.torch import load_file

    network = Network(read_config(base))
    network.load_state_dict({name: one.float() for name, one in load_file(path).items()})
    return network
