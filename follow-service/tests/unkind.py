"""How unkind DynamoDB is in tests over histories: how often, of all requests."""

from murmuration_testkit.unkind_aws import Unkindness

UNKIND = {
    Unkindness.CONFLICT: 0.03,
    Unkindness.LOST_ANSWER: 0.1,
    Unkindness.REPEATED_WRITE: 0.1,
    Unkindness.SHORT_PAGE: 0.3,
    Unkindness.THROTTLING: 0.05,
    Unkindness.UNPROCESSED_KEYS: 0.03,
}
