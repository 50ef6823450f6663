"""What a worker of Kafka events is made of, whatever it does with them."""
