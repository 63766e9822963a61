"""Python scripts that predict with NumPy alone."""
