"""A small BERT that a test trains itself, and saves as Hugging Face folders: nothing is fetched from anywhere."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from tests.measuring.runs import CLASSES

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "letter", "note", *CLASSES, *map(str, range(10)))
MOST_TOKENS = 64
STEPS = 50


def tokenizer() -> PreTrainedTokenizerFast:
    """Words and single digits."""
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106 - a word of the vocabulary
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    ends = [(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=MOST_TOKENS, **special)


def train(folder: Path) -> Path:
    """Write `classifier` and `encoder` into a folder: the class of `billing note 7` is its first word."""
    torch.set_num_threads(1)  # as a worker's: two that spin on a busy machine take ten times as long
    torch.manual_seed(0)
    words = tokenizer()
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=MOST_TOKENS, hidden_dropout_prob=0, attention_probs_dropout_prob=0,
        initializer_range=0.1,
        id2label=dict(enumerate(CLASSES)), label2id={name: place for place, name in enumerate(CLASSES)},
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    texts = [f"{CLASSES[number % 3]} note {number}" for number in range(60)]
    labels = torch.tensor([number % 3 for number in range(60)])
    batch = words(texts, padding=True, return_tensors="pt")
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(**batch, labels=labels).loss.backward()
        optimizer.step()
    model.eval()
    for name, part in (("classifier", model), ("encoder", model.bert)):
        part.save_pretrained(folder / name)
        words.save_pretrained(folder / name)
    return folder
