"""Sealing: what a protocol names is fingerprinted, and the fingerprints are written down before the first pass.

The sealed protocol is the very file that the team wrote, byte for byte: `sha256sum protocol.toml` gives the hash of
the seal and of every row's notes. What is computed (revisions, the drawn order, the code) stands in `seal.json`.
"""

import hashlib
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gpucost import __version__
from gpucost.language import N_, translator
from gpucost.measuring.corpus import MeasuredCorpus
from gpucost.measuring.workloads import BUILT_IN, registered
from gpucost.phrases import Phrase
from gpucost.protocol import Protocol, ProtocolFile
from gpucost.schedule import planned_passes

PACKAGE = Path(__file__).parent.parent
GIT_LIMIT_SECONDS = 30
NO_FOLDER = N_("{path} is not a folder")
_PIECE = 1 << 20


class ModelMissingError(Exception):
    """What a protocol names is not there: its model, tokenizer, head or code. `key` is that of the protocol."""

    def __init__(self, key: str, template: str, **details: str) -> None:
        """`template` is a source text marked with `N_`, which the details fill."""
        self.key = key
        self.phrase = Phrase(template, details)
        super().__init__(f"{key}: {self.phrase.render(translator('en'))}")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def content_sha256(paths: Iterable[Path], root: Path) -> str:
    """One fingerprint of several files: the SHA-256 over their names (from `root`) and contents, sorted by name."""
    digest = hashlib.sha256()
    for path in sorted(paths, key=lambda path: path.relative_to(root).as_posix()):
        digest.update(f"{path.relative_to(root).as_posix()}\0{file_sha256(path)}\n".encode())
    return digest.hexdigest()


def folder_sha256(folder: Path) -> str:
    """The fingerprint of a folder's files, those of caches and version control left out."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return content_sha256((path for path in files if not _is_by_product(path.relative_to(folder))), folder)


def _is_by_product(path: Path) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in path.parts)


@dataclass(frozen=True, slots=True)
class CodeIdentity:
    """The code of a run: the Git revision and whether the tree was clean (None outside Git), the fingerprint of its
    Python files, and the version and fingerprint of gpucost itself."""

    revision: str | None
    clean: bool | None
    sha256: str | None
    gpucost_version: str
    gpucost_sha256: str
    workload: str
    workload_sha256: str | None

    @property
    def told(self) -> str:
        """In words for a row's notes."""
        tree = {True: "clean tree", False: "tree with changes", None: "not under Git"}[self.clean]
        named = self.revision or (f"sha256 {self.sha256}" if self.sha256 else "")
        own = f"{named} ({tree}), " if named else ""
        return f"{own}gpucost {self.gpucost_version} sha256 {self.gpucost_sha256[:12]}"

    def same_content(self, other: "CodeIdentity") -> bool:
        """Whether the code itself is the same: its files, gpucost's and the workload's, whatever was committed."""
        return (self.sha256, self.gpucost_sha256, self.workload_sha256) == (
            other.sha256, other.gpucost_sha256, other.workload_sha256,
        )  # fmt: skip


def code_identity(protocol: Protocol, folder: Path) -> CodeIdentity:
    """What code a protocol would run now."""
    own = sorted(PACKAGE.rglob("*.py"))
    root = (folder / protocol.code.path).resolve() if protocol.code is not None else None
    if root is not None and not root.is_dir():
        raise ModelMissingError("code.path", NO_FOLDER, path=str(root))
    at = root or PACKAGE
    revision = _git(at, "rev-parse", "HEAD")
    status = None if revision is None else _git(at, "status", "--porcelain", "--", ".")
    files = python_files(root) if root is not None else []
    return CodeIdentity(
        revision=revision,
        clean=None if status is None else status == "",
        sha256=content_sha256(files, root) if root is not None else None,
        gpucost_version=__version__,
        gpucost_sha256=content_sha256(own, PACKAGE),
        workload=protocol.model.workload,
        workload_sha256=workload_sha256(protocol.model.workload),
    )


def python_files(root: Path) -> list[Path]:
    """The Python files of a folder: those that Git knows or would add, else all."""
    listed = _git(root, "ls-files", "-co", "--exclude-standard", "-z", "--", "*.py")
    if listed is None:
        return [path for path in root.rglob("*.py") if not _is_by_product(path.relative_to(root))]
    return [path for name in listed.split("\0") if name and (path := root / name).is_file()]


def _git(folder: Path, *words: str) -> str | None:
    """What Git says; None where it is missing, or the folder is not under Git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True, text=True, check=False, timeout=GIT_LIMIT_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip("\n") if done.returncode == 0 else None


def workload_sha256(name: str) -> str | None:
    """The fingerprint of the module of a team's own workload; that of a built-in one is part of gpucost's."""
    if name in BUILT_IN:
        return None
    point = registered().get(name)
    if point is None:
        return None
    spec = find_spec(point.module)
    return file_sha256(Path(spec.origin)) if spec is not None and spec.origin else None


@dataclass(frozen=True)
class ModelPieces:
    """Where the model, tokenizer and head of a protocol stand. A model that may be downloaded is a hub's name."""

    model: Path | str | None
    tokenizer: Path | str | None
    head: Path | None


@dataclass(frozen=True)
class ModelRevisions:
    """The revisions of model and tokenizer: announced by their source, else a fingerprint of their content."""

    model: str
    tokenizer: str


def locate_model(protocol: Protocol, folder: Path) -> ModelPieces:
    """Find what a protocol names. Raises ModelMissingError with what is not there."""
    part = protocol.model
    if part.workload not in registered():
        template = N_("no workload named {name} is registered; these are: {known}")
        raise ModelMissingError("model.workload", template, name=part.workload, known=", ".join(registered()))
    model = _model_folder(protocol, folder)
    head = None if part.head is None else folder / part.head
    if head is not None and not head.is_file():
        raise ModelMissingError(
            "model.head", N_("{path} is not a file; `gpucost head train` makes one"), path=str(head)
        )
    tokenizer: Path | str | None = model
    if part.tokenizer is not None:
        tokenizer = folder / part.tokenizer
        if not tokenizer.exists():
            raise ModelMissingError("model.tokenizer", N_("{path} does not exist"), path=str(tokenizer))
    return ModelPieces(model, tokenizer, head)


def model_revisions(protocol: Protocol, pieces: ModelPieces) -> ModelRevisions:
    """Fingerprint the model and the tokenizer. A head is a part of the model."""
    model, part = pieces.model, protocol.model
    if isinstance(model, str):
        return ModelRevisions(str(part.revision), str(part.tokenizer_revision or part.revision))
    if model is None:
        revision = _workload_revision(part.workload)
        return ModelRevisions(part.revision or revision, part.tokenizer_revision or revision)
    content = folder_sha256(model)
    if pieces.head is not None:
        content = hashlib.sha256(f"{content}\n{file_sha256(pieces.head)}\n".encode()).hexdigest()
    own = pieces.tokenizer is None or pieces.tokenizer == model
    tokenizer = _tokenizer_sha256(model) if own else folder_sha256(Path(str(pieces.tokenizer)))
    return ModelRevisions(_announced(part.revision, content), _announced(part.tokenizer_revision, tokenizer))


def _announced(revision: str | None, content: str) -> str:
    """The revision that the source gives, with the content that was really there; else the content alone."""
    return f"sha256:{content}" if revision is None else f"{revision}+sha256:{content}"


def _tokenizer_sha256(model: Path) -> str:
    """The fingerprint of the tokenizer's files of a model folder."""
    names = ("tokenizer", "vocab", "merges", "special_tokens", "added_tokens", "spiece", "sentencepiece")
    files = [path for path in model.iterdir() if path.is_file() and path.name.startswith(names)]
    return content_sha256(files, model)


def _model_folder(protocol: Protocol, folder: Path) -> Path | str | None:
    part = protocol.model
    if part.package is not None:
        return package_model(part.package)
    if part.path is None:
        if part.workload in BUILT_IN:
            raise ModelMissingError(
                "model.path", N_("the workload {name} needs a model folder or a package"), name=part.workload
            )
        return None
    path = folder / part.path
    if not path.is_dir() and part.allow_download:
        if part.revision is None:
            raise ModelMissingError(
                "model.revision", N_("{name} is fetched from a hub, which needs a fixed revision"), name=part.path
            )
        return part.path
    if not path.is_dir():
        raise ModelMissingError("model.path", NO_FOLDER, path=str(path))
    return path


def package_model(package: str) -> Path:
    """The model folder that an installed package carries: the one folder of it with a `config.json`."""
    spec = find_spec(package) if package.isidentifier() else None
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = sorted(path.parent for root in roots for path in Path(root).rglob("config.json"))
    found = [path for path in found if (path / "tokenizer_config.json").is_file()] or found
    if not found:
        raise ModelMissingError(
            "model.package", N_("{name} is not installed, or carries no model folder"), name=package
        )
    return found[0]


def _workload_revision(name: str) -> str:
    """The revision of a team's own workload without a model folder: its distribution and version, and its module."""
    point = registered().get(name)
    where = "" if point is None or point.dist is None else f"{point.dist.name}-{distribution(point.dist.name).version}-"
    return f"{where}sha256:{workload_sha256(name)}"


@dataclass(frozen=True)
class Seal:
    """What was fixed before the first pass."""

    protocol_sha256: str
    sealed_at: str
    corpus_revision: str
    texts_sha256: str
    input_order_sha256: str
    model_revision: str
    tokenizer_revision: str
    isolation: str
    order: tuple[tuple[str, str, int], ...]
    code: CodeIdentity

    def to_json(self) -> dict[str, Any]:
        """The object of `seal.json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Seal":
        """The seal of a run's folder. Raises KeyError or TypeError where it is not one."""
        order = tuple((str(one), str(two), int(three)) for one, two, three in found["order"])
        return cls(**{**found, "order": order, "code": CodeIdentity(**found["code"])})


def seal(
    file: ProtocolFile, protocol: Protocol, corpus: MeasuredCorpus, model: ModelRevisions, code: CodeIdentity, at: str
) -> Seal:
    """The seal of a protocol and everything that it names."""
    planned = planned_passes(protocol)
    return Seal(
        protocol_sha256=file.sha256,
        sealed_at=at,
        corpus_revision=corpus.revision,
        texts_sha256=hashlib.sha256(corpus.texts.data).hexdigest(),
        input_order_sha256=corpus.order_sha256,
        model_revision=model.model,
        tokenizer_revision=model.tokenizer,
        isolation=protocol.isolation,
        order=tuple((one.variant_id, one.phase, one.run_index) for one in planned),
        code=code,
    )


def what_changed(sealed: Seal, now: Seal) -> list[str]:
    """The names of what is no longer as it was sealed; empty where a run may go on."""
    names = ("protocol_sha256", "corpus_revision", "texts_sha256", "model_revision", "tokenizer_revision", "order")
    changed = [name for name in names if getattr(sealed, name) != getattr(now, name)]
    return changed if sealed.code.same_content(now.code) else [*changed, "code"]
