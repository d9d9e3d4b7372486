"""The programs of docs/guide/use_in.md run, each where its packages are installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_docs import ROOT, blocks_of

import mergewise as mw
from mergewise.demo import opticks

PAGE = ROOT / "docs" / "guide" / "use_in.md"
END = "<|endoftext|>"
SAID = [f"{line}\n" for line in opticks()[:8000].splitlines() if line]
# Warnings of packages that are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the programs read, and nothing from elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "corpus.txt").write_text("".join(SAID), encoding="utf-8")
    tok = mw.train(mw.count(SAID), vocab_size=400, special_tokens=[END])
    tok.save("tokenizer.json")
    return tmp_path


def write_model(folder: Path) -> Any:
    """The tokenizer of the folder as that of a model, and transformers' own."""
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast
    theirs = fast(tokenizer_file=str(folder / "tokenizer.json"), eos_token=END, pad_token=END)
    theirs.save_pretrained(folder / "model")
    return theirs


def run(package: str) -> dict[str, Any]:
    """The names that the program has at its end which imports this package."""
    (program,) = [
        block.code
        for block in blocks_of(PAGE)
        if block.language == "python" and f"from {package} import" in block.code
    ]
    names: dict[str, Any] = {"__name__": "program"}
    exec(program, names)  # noqa: S102 - our own
    return names


def test_datasets(folder: Path) -> None:
    pytest.importorskip("datasets")
    theirs = write_model(folder)
    ids = run("datasets")["ids"]
    expected = theirs([line.strip("\n") for line in SAID], truncation=True, max_length=64)
    assert ids.column_names == list(expected)
    assert ids[:] == dict(expected)


def test_lm_eval(folder: Path) -> None:
    """The scores are those that transformers' own tokenizer leads to."""
    pytest.importorskip("torch")
    pytest.importorskip("lm_eval")
    import torch  # noqa: PLC0415 - not always there
    from lm_eval import simple_evaluate  # noqa: PLC0415
    from lm_eval.models.huggingface import HFLM  # noqa: PLC0415

    transformers: Any = pytest.importorskip("transformers")
    theirs = write_model(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(theirs), n_layer=2, n_head=2, n_embd=32, eos_token_id=theirs.eos_token_id
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(folder / "model")
    sentences = [words for line in SAID if len(words := line.split()) > 4][:20]
    questions = [
        {"question": " ".join(words[:-1]), "choices": [words[-1], "red"], "answer": number % 2}
        for number, words in enumerate(sentences)
    ]
    lines = [json.dumps(question) + "\n" for question in questions]
    (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    names = run("lm_eval")
    model = HFLM(pretrained=names["model"], tokenizer=theirs, batch_size=4, device="cpu")
    expected = simple_evaluate(model, tasks=[names["task"]])
    assert names["results"]["samples"] is not None
    answers = [
        [sample["resps"] for sample in results["samples"]["optics"]]
        for results in (names["results"], expected)
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == len(questions)


def test_fastapi(folder: Path) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("httpx")
    from fastapi.testclient import TestClient  # noqa: PLC0415 - not always there

    client = TestClient(run("fastapi")["app"])
    tok = mw.Tokenizer.from_file(folder / "tokenizer.json")
    texts: dict[str, str] = {}
    ids: dict[str, list[int]] = {}
    for turn, line in enumerate([*SAID[:20], f"the end{END}", "and on"]):
        name = f"chat {turn % 3}"
        for part in (line[:7], line[7:]):
            told = client.post(f"/chats/{name}", json={"text": part}).json()
            texts[name] = texts.get(name, "") + part
            ids[name] = ids.get(name, [])[: told["num_kept"]] + told["ids"]
            assert ids[name] == tok.encode(texts[name], allowed_special="all")
    forked = client.post("/chats/chat 0/fork/other").json()
    assert forked == {"num_ids": len(ids["chat 0"])}
