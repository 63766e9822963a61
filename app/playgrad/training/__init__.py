"""Training: data on the device, step graphs, the chunk loop, callbacks and evaluation."""
