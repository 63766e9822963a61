"""The web server: the page, the engine, Pyodide, the library bundle and the data sets.

Never imported by the library, and not in the bundle that goes to the browser.
"""

from playgrad.server.app import create_app
from playgrad.server.serve import serve

__all__ = ["create_app", "serve"]
