"""The model server: versions of models in a folder, answered for over HTTP.

It needs the packages of the extra ``models``. Nothing else of the library imports it.
"""
