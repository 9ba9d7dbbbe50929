# Paths and start command of the official redis image.
ARG BASE
FROM ${BASE}
RUN mv /usr/bin/redis-* /usr/local/bin/ \
 && printf '#!/bin/sh\necho "the entrypoint was run" >&2\nexit 70\n' > /usr/local/bin/docker-entrypoint.sh \
 && chmod 755 /usr/local/bin/docker-entrypoint.sh \
 && mkdir /data
VOLUME /data
WORKDIR /data
ENTRYPOINT ["docker-entrypoint.sh"]
EXPOSE 6379
CMD ["redis-server"]
