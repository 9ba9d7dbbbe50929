# Paths and start command of the official zookeeper image: Java where Temurin's image has it, jars that
# bear their versions, the configuration in /conf.
ARG BASE
FROM ${BASE}
ENV JAVA_HOME=/opt/java/openjdk ZOO_CONF_DIR=/conf ZOO_DATA_DIR=/data ZOO_DATA_LOG_DIR=/datalog ZOO_LOG_DIR=/logs
ENV PATH=/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/apache-zookeeper-3.8.0-bin/bin
RUN mv /opt/java /opt/openjdk && mkdir /opt/java && mv /opt/openjdk /opt/java/openjdk \
 && mkdir -p /apache-zookeeper-3.8.0-bin/bin /conf /data /datalog /logs \
 && mv /opt/zookeeper/lib /apache-zookeeper-3.8.0-bin/lib && rm -r /opt/zookeeper \
 && cd /apache-zookeeper-3.8.0-bin/lib && mv zookeeper.jar zookeeper-3.8.0.jar && mv zookeeper-jute.jar zookeeper-jute-3.8.0.jar \
 && printf '#!/bin/sh\necho "the entrypoint was run" >&2\nexit 70\n' > /docker-entrypoint.sh \
 && chmod 755 /docker-entrypoint.sh
WORKDIR /apache-zookeeper-3.8.0-bin
VOLUME ["/data", "/datalog", "/logs"]
EXPOSE 2181 2888 3888 8080
ENTRYPOINT ["/docker-entrypoint.sh"]
CMD ["zkServer.sh", "start-foreground"]
