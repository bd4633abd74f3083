#!/bin/sh
# web | worker | beat | migrate | any manage.py command
set -eu
case "${1:-web}" in
  web)
    python manage.py collectstatic --no-input --verbosity 0
    exec python -m granian --interface wsgi --host "$HOST" --port "$PORT" \
      --workers "${WEB_WORKERS:-2}" --blocking-threads "${WEB_THREADS:-4}" \
      --respawn-failed-workers apps.config.wsgi:application ;;
  worker)
    exec python -m celery --app apps.config worker --concurrency "${WORKER_PROCESSES:-2}" \
      --loglevel "${LOG_LEVEL:-INFO}" ;;
  beat)
    exec python -m celery --app apps.config beat --schedule /tmp/beat-schedule \
      --loglevel "${LOG_LEVEL:-INFO}" ;;
  *)
    exec python manage.py "$@" ;;
esac
