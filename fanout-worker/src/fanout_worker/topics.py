"""What this service is called, and which topics it reads. Pure."""

from contracts import TOPICS

SERVICE = "fanout-worker"  # also the consumer group
TOPICS_READ = [topic for topic in TOPICS.values() if SERVICE in topic.consumers]
