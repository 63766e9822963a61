"""The peers on the desktop: each file is a program that measures one and prints the outcome."""
