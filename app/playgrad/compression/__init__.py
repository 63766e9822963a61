"""Small models: integer arithmetic, and files of quantized, pruned and clustered networks."""
