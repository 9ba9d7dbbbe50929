# Paths and start command of the official etcd image; like it without a shell, without any file but
# etcd's own. The binaries of Debian need its C library.
ARG BASE
FROM ${BASE} AS debian
RUN mkdir -p /root-fs/usr/local/bin /root-fs/var/etcd /root-fs/var/lib/etcd /root-fs/tmp \
 && cp /usr/bin/etcd /usr/bin/etcdctl /root-fs/usr/local/bin/ \
 && ldd /usr/bin/etcd /usr/bin/etcdctl | grep -o '/lib[^ ]*' | sort -u | xargs -I{} cp -L --parents {} /root-fs/

FROM scratch
COPY --from=debian /root-fs /
WORKDIR /var/lib/etcd
EXPOSE 2379 2380
CMD ["/usr/local/bin/etcd"]
