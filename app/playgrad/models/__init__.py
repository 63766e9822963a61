"""Networks of layers: their structure, weights and sessions, and the models that train."""
