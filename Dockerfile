# A server for games over the network, without a screen (docs/play/server.md):
#
#   docker build --tag geo_patrol .
#   docker run --publish 127.0.0.1:8000:8000 --volume geo_patrol_games:/games geo_patrol
#
# Options of `geo-patrol serve` follow the image's name: --name play.example.org
FROM python:3.13-slim AS build
WORKDIR /source
RUN python -m venv /venv
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY configs configs
COPY src src
RUN /venv/bin/pip install --no-cache-dir ".[play]"

FROM python:3.13-slim
ENV PATH=/venv/bin:$PATH \
    NUMBA_CACHE_DIR=/var/cache/geo_patrol \
    SDL_VIDEODRIVER=dummy
RUN useradd --uid 1000 geo_patrol \
    && install --directory --owner geo_patrol /games /var/cache/geo_patrol
COPY --from=build /venv /venv
USER 1000
WORKDIR /games
# Compiled here, not at the first game; a processor of another kind compiles once more.
RUN geo-patrol warmup
VOLUME /games
EXPOSE 8000
HEALTHCHECK --start-period=2m \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/', timeout=5)"]
ENTRYPOINT ["geo-patrol", "serve", "--host", "0.0.0.0", "--port", "8000", "--data", "/games"]
