"""What every process of Murmuration has, whatever it does."""
