"""Django's settings: one file, everything from outside through `environment`."""

import secrets
from typing import Any

from cryptography.fernet import Fernet

from apps.config import environment
from apps.config.environment import ROOT, Environment, listed

ENV = Environment()
VAR = ENV.turnwright_var.resolve()
VAR.mkdir(parents=True, exist_ok=True)

DEBUG = ENV.debug is True
LOCAL = ENV.local
SECRET_KEY = ENV.secret("secret-key", ENV.secret_key, lambda: secrets.token_urlsafe(50))
ENCRYPTION_KEYS = listed(
    ENV.secret("encryption-key", ENV.encryption_keys, lambda: Fernet.generate_key().decode())
)
ALLOWED_HOSTS = listed(ENV.allowed_hosts)
CSRF_TRUSTED_ORIGINS = listed(ENV.csrf_trusted_origins)
OWN_URL = ENV.own_url
PUBLIC_URL = (ENV.public_url or ENV.own_url).rstrip("/")
ALLOW_PRIVATE_ENDPOINTS = (
    LOCAL if ENV.allow_private_endpoints is None else ENV.allow_private_endpoints
)
WEB_THREADS = ENV.web_threads
OPENAI_API_KEY = ENV.openai_api_key
OPENAI_BASE_URL = ENV.openai_base_url
OPENAI_MODEL = ENV.openai_model

INSTALLED_APPS = [
    "apps.config",
    "apps.accounts",
    "apps.providers",
    "apps.traces",
    "apps.tasks",
    "apps.runs",
    "apps.episodes",
    "apps.studio",
    "apps.harness",
    "apps.api",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "django.contrib.humanize",
    "django_htmx",
    "django_vite",
    "allauth",
    "allauth.account",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "apps.config.middleware.ProtocolFirst",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.config.middleware.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "apps.config.urls"
WSGI_APPLICATION = "apps.config.wsgi.application"
APPEND_SLASH = False  # a redirect turns a POST into a GET

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.studio.frame.frame",
            ],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

DATABASES = {"default": environment.database(ENV.database_url, VAR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": environment.cache(ENV.cache_url)}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
CSRF_FAILURE_VIEW = "apps.studio.errors.csrf_failure"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "apps.studio.sign_in.StudioAccountAdapter"
ACCOUNT_FORMS = {"login": "apps.studio.forms.sign_in.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [("dist", ROOT / "static" / "dist")]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = not any(STATIC_ROOT.iterdir())  # until they are collected


def WHITENOISE_IMMUTABLE_FILE_TEST(path: str, url: str) -> bool:  # noqa: N802 - WhiteNoise's name
    """Vite puts a hash of the content into the names below ``dist/assets``."""
    return url.startswith("/static/dist/assets/")


DJANGO_VITE = {
    "default": {
        "manifest_path": ROOT / "static" / "dist" / "manifest.json",
        "static_url_prefix": "dist",
    }
}

DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 2**20
FILE_UPLOAD_MAX_MEMORY_SIZE = 4 * 2**20
FILE_UPLOAD_TEMP_DIR = None

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENV.https
SESSION_COOKIE_HTTPONLY = True
SECURE_HSTS_SECONDS = 31_536_000 if ENV.https else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.https else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.api.authentication.KeyAuthentication",
        "apps.api.authentication.StudioSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.api.parsing.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.api.problems.problem_response",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Turnwright management API",
    "DESCRIPTION": (
        "Everything the studio can do, for scripts. Send a key of the project as `X-API-Key` or "
        "`Authorization: Bearer`. Lists are walked with `limit` and `after`, the `next` of the "
        "page before. Errors are problem details (RFC 9457) that name the place: "
        "`messages[2].role`, `query.limit`, `line 3`."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
}

RUN_LEASE_SECONDS = ENV.run_lease_seconds
CELERY_BROKER_URL = environment.broker(ENV.celery_broker_url, VAR)
CELERY_BROKER_IS_EMBEDDED = not ENV.celery_broker_url
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "unacked_restore_interval": 5,
    "socket_connect_timeout": 2,
}
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "apps.runs.jobs.sweep",
        "schedule": max(1.0, RUN_LEASE_SECONDS / 3),
        "options": {"expires": RUN_LEASE_SECONDS},
    },
    "sweep_transfers": {
        "task": "apps.tasks.jobs.sweep_transfers",
        "schedule": max(1.0, RUN_LEASE_SECONDS / 3 * 2),
        "options": {"expires": 2 * RUN_LEASE_SECONDS},
    },
    "tidy_transfers": {
        "task": "apps.tasks.jobs.tidy_transfers",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)-7s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": ENV.log_level},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "httpx2": {"level": "WARNING"},  # a line a model call; the ledger knows every one
    },
}
