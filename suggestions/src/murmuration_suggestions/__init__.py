"""Who to follow: a nightly computation over the whole graph, on Spark."""
