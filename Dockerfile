# The page and its server, for a class or a small company; docs/class.md says how to use it.
#
#   docker build -t playgrad .
#   docker run --rm -p 127.0.0.1:8000:8000 playgrad

FROM python:3.11-slim AS build
WORKDIR /src
COPY . .
# The image of Python's memory, with which pages start fast, needs Node, which set-up brings. Brotli takes minutes.
RUN python -B -m tools.setup run \
    && python -B -m tools.setup docs \
    && .venv/bin/python -m tools.docs --strict \
    && PATH="$PWD/.venv/node:$PATH" .venv/bin/python -c "from playgrad.server import bundle, image; image.ImageCache(bundle.BundleCache()).make()" \
    && .venv/bin/python -c "from playgrad import assets; from playgrad.server import packing; packing.pack([assets.PYODIDE, assets.MNIST], '.max.br')" \
    && python -m pip wheel --no-deps --wheel-dir dist . \
    && mkdir /assets && cp -r var/pyodide var/mnist var/images /assets/

FROM python:3.11-slim
COPY --from=build /src/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl \
    && useradd --system --uid 10001 --create-home playgrad
COPY --from=build --chown=playgrad /assets /var/lib/playgrad
# All addresses of the container are its own: what of it is reachable, -p decides.
ENV PLAYGRAD_VAR=/var/lib/playgrad HOST=0.0.0.0 PORT=8000
USER playgrad
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["playgrad", "serve"]
