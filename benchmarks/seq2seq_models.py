"""The seq2seq adapter with transformers itself, on tiny models of each family that the docs name.

Their weights are drawn by lot, so what they write means nothing: seen is that each loads, says which
languages it has, is told the language asked for, ends, and gives the same again. Needs the extra `models`,
in an environment of its own: `make setup EXTRAS=models`, then

    python -m benchmarks.seq2seq_models
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import read_result, save
from flows.adapters.seq2seq import Seq2Seq

NAME = "seq2seq_models"
TEXTS = ("which insect carries the disease", "what causes fever and pain")
_WORDS = (
    *(
        "which",
        "insect",
        "carries",
        "the",
        "disease",
        "what",
        "causes",
        "fever",
        "how",
        "is",
        "pain",
        "treated",
    ),
    *("drug", "helps", "heart", "lung", "and", "liver", "of", "a", "patient"),
)
_SIZES = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_position_embeddings": 64,
}
_SPECIAL = ("<s>", "</s>", "<unk>")


def pieces(folder: Path) -> tuple[Path, list[tuple[str, float]]]:
    """A SentencePiece model of a few words, its file and its pieces with their scores."""
    import sentencepiece

    text = folder / "words.txt"
    text.write_text("\n".join([" ".join(_WORDS), *_WORDS]), "utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=str(folder / "words"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    made = sentencepiece.SentencePieceProcessor(model_file=str(folder / "words.model"))
    known = [(made.id_to_piece(i), made.get_score(i)) for i in range(made.get_piece_size())]
    return folder / "words.model", [(piece, score) for piece, score in known if piece not in _SPECIAL]


def marian(
    folder: Path, scratch: Path, prefixes: tuple[str, ...] = (), pair: tuple[str, str] = ("eng", "mul")
) -> None:
    """MarianMT: of one pair, or of several languages told by a word before the text."""
    import transformers

    model, known = pieces(scratch)
    listed = ["</s>", "<unk>", *(piece for piece, _ in known), *prefixes, "<pad>"]
    vocabulary = {piece: place for place, piece in enumerate(listed)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    for name in ("source.spm", "target.spm"):
        shutil.copy(model, folder / name)
    transformers.MarianTokenizer(
        source_spm=str(folder / "source.spm"), target_spm=str(folder / "target.spm"),
        vocab=str(folder / "vocab.json"), source_lang=pair[0], target_lang=pair[1],
    ).save_pretrained(folder)  # fmt: skip
    pad = vocabulary["<pad>"]
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary), pad_token_id=pad, eos_token_id=0, forced_eos_token_id=0,
        decoder_start_token_id=pad, **_SIZES,
    )  # fmt: skip
    transformers.MarianMTModel(config).save_pretrained(folder)


def m2m100(folder: Path, scratch: Path) -> None:
    """M2M100: the language is the first token that it writes."""
    import transformers

    model, known = pieces(scratch)
    listed = ["<s>", "<pad>", "</s>", "<unk>", *(piece for piece, _ in known)]
    (folder / "vocab.json").write_text(
        json.dumps({name: place for place, name in enumerate(listed)}), "utf-8"
    )
    shutil.copy(model, folder / "sentencepiece.bpe.model")
    tokenizer = transformers.M2M100Tokenizer(
        vocab_file=str(folder / "vocab.json"), spm_file=str(folder / "sentencepiece.bpe.model")
    )
    tokenizer.save_pretrained(folder)
    config = transformers.M2M100Config(vocab_size=max(tokenizer.lang_token_to_id.values()) + 1, **_SIZES)
    transformers.M2M100ForConditionalGeneration(config).save_pretrained(folder)


def nllb(folder: Path, scratch: Path) -> None:
    """NLLB: languages with their script, as tokens."""
    import transformers

    _, known = pieces(scratch)
    listed = ["<s>", "<pad>", "</s>", "<unk>", *(piece for piece, _ in known)]
    tokenizer = transformers.NllbTokenizer(
        vocab={name: place for place, name in enumerate(listed)}, merges=[]
    )
    tokenizer.save_pretrained(folder)
    config = transformers.M2M100Config(vocab_size=len(tokenizer), **_SIZES)
    transformers.M2M100ForConditionalGeneration(config).save_pretrained(folder)


def mbart50(folder: Path, scratch: Path) -> None:
    """mBART-50: languages with their country, as tokens."""
    import transformers

    _, known = pieces(scratch)
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *known]
    tokenizer = transformers.MBart50Tokenizer(vocab=vocabulary, src_lang="en_XX")
    tokenizer.save_pretrained(folder)
    config = transformers.MBartConfig(vocab_size=len(tokenizer), **_SIZES)
    transformers.MBartForConditionalGeneration(config).save_pretrained(folder)


MODELS: dict[str, Callable[[Path, Path], None]] = {
    "MarianMT, one pair": lambda folder, scratch: marian(folder, scratch, pair=("en", "es")),
    "MarianMT, several": lambda folder, scratch: marian(folder, scratch, (">>spa<<", ">>fra<<", ">>jpn<<")),
    "M2M100": m2m100,
    "NLLB": nllb,
    "mBART-50": mbart50,
}
LANGUAGES = ("de", "es", "fr", "it", "ja", "pt", "ru", "zh")


def seen(folder: Path) -> dict[str, Any]:
    """What the adapter makes of one model."""
    engine = Seq2Seq(str(folder))
    pairs = {language: engine.pair_of(language) for language in LANGUAGES}
    told = [language for language, pair in pairs.items() if pair]
    first = {language: engine.translate(TEXTS, pairs[language]) for language in told}
    again = {language: Seq2Seq(str(folder)).translate(TEXTS, pairs[language]) for language in told}
    left = sum(text.startswith(("__", ">>")) or "_Latn" in text[:9] or "_XX" in text[:9]
               for texts in first.values() for text in texts)  # fmt: skip
    return {
        "languages": told,
        "texts": sum(len(texts) for texts in first.values()),
        "same_again": first == again,
        "starting_with_a_language": left,
        "as_many_as_asked": all(len(texts) == len(TEXTS) for texts in first.values()),
    }


@contextlib.contextmanager
def made(name: str) -> Iterator[Path]:
    """A folder with one of MODELS."""
    import torch

    torch.manual_seed(20261127)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "model"
        folder.mkdir()
        MODELS[name](folder, Path(scratch))
        yield folder


def section() -> list[str]:
    """The lines of the benchmarks page."""
    result = read_result(NAME)
    lines = [
        "## Translation models by their library",
        "",
        f"`seq2seq:FOLDER` with transformers {result['transformers']} and PyTorch {result['torch']}, on tiny "
        "models with weights drawn by lot, one of each family: what they write means nothing, but each "
        "loads, tells its languages, ends and repeats. Models that translate do not install offline. "
        "`python -m benchmarks.seq2seq_models`",
        "",
        "| model | languages | texts | the same again | begin with a language's token |",
        "|---|---|---:|---|---:|",
    ]
    for name, row in result["models"].items():
        again = "yes" if row["same_again"] else "no"
        lines.append(
            f"| {name} | {' '.join(row['languages'])} | {row['texts']} | {again} | "
            f"{row['starting_with_a_language']} |"
        )
    return [*lines, ""]


def main() -> None:
    """Make each model, use it, save."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers

    rows = {}
    for name in MODELS:
        with made(name) as folder:
            rows[name] = seen(folder)
            print(name, rows[name], file=sys.stderr)
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    print(save(NAME, {**versions, "models": rows}))


if __name__ == "__main__":
    main()
