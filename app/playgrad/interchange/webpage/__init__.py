"""Networks as stand-alone web pages, which need neither a server nor a network."""
