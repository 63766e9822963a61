"""Networks: layers joined to a function, with their weights and the session that holds them."""
