# Two images: `docker build --target cpu .` (the default) and `docker build --target gpu .`.
ARG BASE_IMAGE=docker.io/library/python:3.11-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /build
COPY pyproject.toml docker/requirements.py docker/constraints.txt docker/constraints-gpu.txt docker/
RUN mv docker/pyproject.toml . && python -m venv --without-pip /opt/venv

# pip stays behind: --python installs into an environment that has none.
FROM build AS packages-cpu
RUN python docker/requirements.py cpu > requirements.txt \
 && python -m pip --python /opt/venv/bin/python install --no-cache-dir -c docker/constraints.txt -r requirements.txt

FROM build AS packages-gpu
RUN python docker/requirements.py gpu > requirements.txt \
 && python -m pip --python /opt/venv/bin/python install --no-cache-dir \
      -c docker/constraints.txt -c docker/constraints-gpu.txt -r requirements.txt

FROM ${BASE_IMAGE} AS serve
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin vitrail
WORKDIR /srv/vitrail
# Python compiles nothing at run time: the root file system may be read-only.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ORT_DISABLE_TELEMETRY=1 \
    VITRAIL_HOST=0.0.0.0 \
    VITRAIL_PORT=8000 \
    VITRAIL_MODEL=/srv/vitrail/model/pretrained/en-fr
COPY app app
COPY model/pretrained/en-fr model/pretrained/en-fr
USER 10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['VITRAIL_PORT'] + '/health/ready', timeout=2)"]
CMD ["python", "-m", "app"]

FROM serve AS gpu
COPY --from=packages-gpu /opt/venv /opt/venv
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility

FROM serve AS cpu
COPY --from=packages-cpu /opt/venv /opt/venv
