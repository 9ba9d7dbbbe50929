# ZooKeeper from a Debian suite.
#
# The packages demand a desktop's Java runtime and the jars of an administration server (300 MB and
# more), so the parts are taken singly: the jars that a server loads, and a runtime of the modules
# that they use. The catalog says how the server is started.
ARG BASE
FROM ${BASE} AS parts
# OpenJDK's major version in this suite; the packages with the jars; the jars' names.
ARG JAVA
ARG PACKAGES
ARG JARS
# The directory of manual pages must exist: a slim image has none, and Java's installation fails.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update \
 && apt-get install -y --no-install-recommends openjdk-${JAVA}-jdk-headless \
 && mkdir /debs && cd /debs && apt-get download $PACKAGES \
 && for deb in *.deb; do dpkg -x "$deb" /files; done
RUN mkdir -p /opt/zookeeper/lib \
 && for jar in $JARS; do cp -L /files/usr/share/java/$jar.jar /opt/zookeeper/lib/ || exit 1; done \
 && /usr/lib/jvm/java-${JAVA}-openjdk-*/bin/jlink --output /opt/java --no-header-files --no-man-pages \
      --add-modules java.base,java.logging,java.management,java.naming,java.security.jgss,java.security.sasl,java.xml,jdk.management,jdk.unsupported

FROM ${BASE}
COPY --from=parts /opt /opt
# A class archive spares each server a third of the processor time of its start. It is made here,
# after the copy, because Java compares the jars' times with it. A cluster of one runs through the
# election and the leader's classes; 3.4 ignores the first line and runs alone.
RUN printf '%s\n' standaloneEnabled=false server.1=127.0.0.1:2888:3888 clientPort=2181 \
      dataDir=/tmp/zk tickTime=200 initLimit=10 syncLimit=10 admin.enableServer=false > /tmp/zk.cfg \
 && mkdir /tmp/zk && echo 1 > /tmp/zk/myid \
 && { timeout 6 /opt/java/bin/java -Xshare:off -XX:DumpLoadedClassList=/tmp/classes -XX:+UseSerialGC \
      -Dzookeeper.jmx.log4j.disable=true -cp '/opt/zookeeper/lib/*' \
      org.apache.zookeeper.server.quorum.QuorumPeerMain /tmp/zk.cfg || [ $? = 124 ]; } \
 && /opt/java/bin/java -Xshare:dump -XX:SharedClassListFile=/tmp/classes -XX:+UseSerialGC \
      -XX:SharedArchiveFile=/opt/zookeeper/classes.jsa -cp '/opt/zookeeper/lib/*' >/dev/null \
 && rm -rf /tmp/*
