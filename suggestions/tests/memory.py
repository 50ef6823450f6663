"""A folder in memory."""

from dataclasses import dataclass, field


@dataclass
class MemoryFolder:
    """What kept_runs asks of a Folder."""

    name: str = ""
    files: dict = field(default_factory=dict)  # of all folders: path to what is told there
    path: str = ""

    def __truediv__(self, name):
        return MemoryFolder(name, self.files, f"{self.path}/{name}")

    def read_json(self):
        return self.files.get(self.path)

    def write_json(self, told):
        self.files[self.path] = told

    def entries(self):
        below = f"{self.path}/"
        names = {path.removeprefix(below).partition("/")[0] for path in self.files if path.startswith(below)}
        return [self / name for name in sorted(names)]

    def delete(self):
        for path in [*self.files]:
            if path.startswith(f"{self.path}/"):
                del self.files[path]
