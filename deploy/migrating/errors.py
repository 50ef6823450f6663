"""Why a step was not done, and what to do; tables.py says it in one line."""


class StepError(Exception):
    """A step was not done, or not to its end."""


class TableError(StepError):
    """A table is not what its file says, or not yet."""


class OrderError(StepError):
    """A step cannot be done now."""


class PassError(StepError):
    """A pass over the rows ended before its end, and goes on there when it is run again."""


class MigrationError(StepError):
    """A migration's function returned what it may not."""


class AdoptError(StepError):
    """A job did not come to its end."""
