"""With which code a worker ends by itself. Its supervisor starts the next one, which begins where the group stands."""

UNFORESEEN = 70  # a batch failed in a way that nobody foresaw, or Faust skipped a message
STUCK = 71  # there was lag and no progress
OTHER_TOPIC = 72  # a topic was re-created
STOP_HUNG = 75  # a SIGTERM was not followed in time
