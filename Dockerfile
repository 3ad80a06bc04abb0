# Fidelio's server and command on Debian 12: `docker build -t fidelio .`
#
# The server listens on every address of the container, so it wants TLS and tokens, or FIDELIO_INSECURE=true where
# something else protects it (deploy/docs/operating.md). It runs as user 10001, writes to /var/lib/fidelio alone, and is
# content with a read-only root.
ARG BASE=debian:12-slim

FROM ${BASE} AS build
WORKDIR /src
COPY deploy/install-deps.sh deploy/
RUN deploy/install-deps.sh --programs --ccache
COPY . .
# Core for every level of instructions: the loader takes the best that the machine has.
ARG ISA_LEVELS="v2;v3;v4"
ARG REVISION=""
ARG CCACHE_DIR=/root/.cache/ccache
RUN --mount=type=cache,target=/root/.cache/ccache \
    cmake --preset programs -DFIDELIO_ISA_LEVELS="${ISA_LEVELS}" -DFIDELIO_SOURCE_REVISION="${REVISION}" \
 && cmake --build --preset programs --parallel "$(nproc)" \
 && cmake --install build/programs --prefix /out --strip

FROM ${BASE}
RUN apt-get -qq update \
 && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
      ca-certificates libabsl20220623 libcivetweb1 libgrpc++1.51 libjemalloc2 libprometheus-cpp-core1.0 libprotobuf32 \
      libspdlog1.10 libsqlite3-0 libssl3 libstdc++6 >/dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/* /var/log/* \
 && groupadd --gid 10001 fidelio \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/fidelio --shell /usr/sbin/nologin fidelio \
 && install -d -o 10001 -g 10001 -m 0750 /var/lib/fidelio
COPY --from=build /out /usr/local

ARG VERSION=0.1.0
ARG REVISION=""
LABEL org.opencontainers.image.title="fidelio" \
      org.opencontainers.image.description="Multi-fidelity emulation server" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="debian:12-slim"

ENV FIDELIO_LISTEN=0.0.0.0:50051 \
    FIDELIO_DATA_DIR=/var/lib/fidelio \
    FIDELIO_METRICS_ADDRESS=127.0.0.1:9464 \
    FIDELIO_LOG_FORMAT=json
VOLUME /var/lib/fidelio
EXPOSE 50051
USER 10001:10001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s CMD ["fidelio-server", "--probe"]
ENTRYPOINT ["fidelio-server"]
