"""The web server: the page, the engine, Pyodide, the library bundle and the data sets.

The library never imports it, and the bundle for the browser leaves it out.
"""

from playgrad.server.app import create_app
from playgrad.server.serve import serve

__all__ = ["create_app", "serve"]
