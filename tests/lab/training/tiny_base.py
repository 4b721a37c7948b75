"""An encoder small enough to be trained in a test, as the files of a base."""

import json
import string
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from taskshield.judges.embedded.network.encoding import load_tokenizer

torch.set_num_threads(1)  # so small a network gains nothing from more, and tests run side by side

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SIGNS = string.ascii_lowercase + string.digits + string.punctuation
WORDS = (*SPECIAL, "[unused1]", *SIGNS, *(f"##{one}" for one in SIGNS), "valve", "pump", "open")
CONFIG = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 256,
    "type_vocab_size": 2,
}


def tokenizer() -> Tokenizer:
    """A tokenizer as BERT's that knows letters, signs and three words."""
    made = Tokenizer(
        WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    made.add_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    return load_tokenizer(made.to_str().encode())


def tensors() -> dict[str, torch.Tensor]:
    """Random weights under the names that BERT's checkpoints use, always the same."""
    chance = torch.Generator().manual_seed(5)
    width, inner = 16, 32

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=chance) * 0.3

    made = {
        "embeddings.word_embeddings.weight": some(len(WORDS), width),
        "embeddings.token_type_embeddings.weight": some(2, width),
        "embeddings.position_embeddings.weight": some(256, width) * 0.1,
        "embeddings.position_ids": torch.arange(256)[None],
        "pooler.dense.weight": some(width, width),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(2):
        layer = f"encoder.layer.{number}"
        dense = {
            "attention.self.query": (width, width),
            "attention.self.key": (width, width),
            "attention.self.value": (width, width),
            "attention.output.dense": (width, width),
            "intermediate.dense": (inner, width),
            "output.dense": (width, inner),
        }
        for name, shape in dense.items():
            made[f"{layer}.{name}.weight"] = some(*shape)
            made[f"{layer}.{name}.bias"] = some(shape[0])
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name in norms:
        made[f"{name}.weight"] = 1 + some(width)
        made[f"{name}.bias"] = some(width)
    return made


def write(folder: Path, *, prefix: str = "") -> Path:
    """The folder of an encoder; returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text(tokenizer().to_str())
    save_file(
        {prefix + name: tensor for name, tensor in tensors().items()}, folder / "model.safetensors"
    )
    return folder
