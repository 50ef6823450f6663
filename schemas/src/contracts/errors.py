"""What can go wrong with a contract. Whatever is not one of these is a bug."""


class ContractError(Exception):
    """The contract is broken: by bytes, by an event, by a schema or by a topic. Trying again changes nothing."""


class UnknownSchemaError(ContractError):
    """Bytes name a schema id nobody knows. A registry may lag: ask a few times before the event goes to the dead."""
