"""Write the Python of follow-service's gRPC messages, from its .proto. `make protos` runs it.

Rule: what is written is checked in, so that no image needs protoc; a test holds it to the .proto.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from grpc_tools import protoc

REPOSITORY = Path(__file__).parents[1]
PROTOS = REPOSITORY / "follow-service/proto"
PACKAGE = REPOSITORY / "follow-service/src/follow_service"


class ProtoError(Exception):
    """protoc refused the file; it has said why on stderr."""


def texts() -> Iterator[tuple[Path, str]]:
    """Give every file that is written, with what belongs into it."""
    for proto in sorted(PROTOS.rglob("*.proto")):
        with tempfile.TemporaryDirectory() as folder:
            out = [f"--python_out={folder}", f"--pyi_out={folder}"]
            if protoc.main(["protoc", f"-I{PROTOS}", *out, str(proto.relative_to(PROTOS))]):
                raise ProtoError(proto)
            for made in sorted(Path(folder).rglob("*.py*")):
                yield PACKAGE / made.name, made.read_text()


if __name__ == "__main__":
    for file, text in texts():
        file.write_text(text)
        print(f"wrote {file.relative_to(REPOSITORY)}")
