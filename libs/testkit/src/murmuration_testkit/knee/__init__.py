"""How much load a system carries: it is raised step by step, and the knee is the last load that kept the bounds."""
