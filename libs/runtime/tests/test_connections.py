"""How processes reach Kafka, the registry and Redis: what is wrong in the settings stops the start, by its name."""

import base64
import http.server
import json
import os
import ssl
import threading
import time
from contextlib import contextmanager

import pytest
from pydantic import SecretStr

from contracts import TOPICS
from contracts.registry import RegistryAwayError
from murmuration_runtime.errors import RedisRefusedError
from murmuration_runtime.kafka_connection import KafkaSettings
from murmuration_runtime.oauth_tokens import MskIamTokens, OidcTokens, TokenError
from murmuration_runtime.redis_connection import RedisSettings
from murmuration_runtime.redis_nodes import Nodes
from murmuration_runtime.registry_connection import RegistrySettings
from murmuration_runtime.settings import read
from murmuration_runtime.tls_files import TlsFiles
from murmuration_testkit.certificates import Authority
from murmuration_testkit.ports import free_port
from murmuration_testkit.redis_nodes import redis_node

SECRET = "s3cret-never-shown"
BASE = {
    "KAFKA_BOOTSTRAP_SERVERS": "k:9092",
    "SCHEMA_REGISTRY_URL": "https://r",
    "REDIS_URL": "rediss://r/0",
}
SCRAM = {
    "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
    "KAFKA_SASL_USERNAME": "bridge",
    "KAFKA_SASL_PASSWORD": SECRET,
}
OIDC = {
    "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "KAFKA_SASL_MECHANISM": "OAUTHBEARER",
    "KAFKA_OAUTH_TOKEN_URL": "https://issuer/token",
    "KAFKA_OAUTH_CLIENT_ID": "bridge",
    "KAFKA_OAUTH_CLIENT_SECRET": SECRET,
}
MSK = {
    "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "KAFKA_SASL_MECHANISM": "OAUTHBEARER",
    "KAFKA_OAUTH_PROVIDER": "msk-iam",
    "KAFKA_OAUTH_AWS_REGION": "eu-central-1",
}


class Everything(RegistrySettings, RedisSettings):
    """All connections."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def pair(authority):
    return authority.certify("server")


@pytest.fixture
def set_to(monkeypatch):
    """Let the environment have these variables of the connections, and no other."""
    for name in [*os.environ]:
        if name.startswith(("KAFKA_", "SCHEMA_REGISTRY_", "REDIS_")):
            monkeypatch.delenv(name)

    def change(**variables):
        for name, value in (BASE | variables).items():
            monkeypatch.setenv(name, str(value))

    return change


def without(settings, *names):
    return {name: value for name, value in settings.items() if name not in names}


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        (without(SCRAM, "KAFKA_SASL_USERNAME"), "KAFKA_SASL_USERNAME is not set"),
        (without(SCRAM, "KAFKA_SASL_PASSWORD"), "KAFKA_SASL_PASSWORD is not set"),
        (without(SCRAM, "KAFKA_SASL_MECHANISM"), "KAFKA_SASL_MECHANISM is not set"),
        (
            without(SCRAM, "KAFKA_SECURITY_PROTOCOL"),
            "KAFKA_SASL_USERNAME is set, and KAFKA_SECURITY_PROTOCOL=PLAIN",
        ),
        (SCRAM | {"KAFKA_SASL_MECHANISM": "SCRAM"}, "KAFKA_SASL_MECHANISM is 'SCRAM'"),
        (SCRAM | {"KAFKA_OAUTH_CLIENT_ID": "x"}, "KAFKA_OAUTH_CLIENT_ID is set, and KAFKA_SECURITY_PROTOCOL=SASL_SSL"),
        (SCRAM | {"KAFKA_SSL_CA_FILE": "/nowhere"}, "KAFKA_SSL_CA_FILE names '/nowhere', which cannot be read"),
        (SCRAM | {"KAFKA_SSL_CA_FILE": __file__}, "KAFKA_SSL_CA_FILE .* holds no certificates"),
        ({"KAFKA_SSL_CA_FILE": __file__}, "KAFKA_SSL_CA_FILE is set, and KAFKA_SECURITY_PROTOCOL=PLAINTEXT has no use"),
        (without(OIDC, "KAFKA_OAUTH_TOKEN_URL"), "KAFKA_OAUTH_TOKEN_URL is not set"),
        (OIDC | {"KAFKA_OAUTH_TOKEN_URL": "https://u:p@issuer/"}, "KAFKA_OAUTH_TOKEN_URL is 'https://…@issuer/'"),
        (without(MSK, "KAFKA_OAUTH_AWS_REGION"), "KAFKA_OAUTH_AWS_REGION is not set"),
        ({"KAFKA_TOPIC_PREFIX": "blue/"}, "KAFKA_TOPIC_PREFIX is 'blue/'"),
        ({"SCHEMA_REGISTRY_USERNAME": "u"}, "SCHEMA_REGISTRY_PASSWORD is not"),
        (
            {"SCHEMA_REGISTRY_USERNAME": "u", "SCHEMA_REGISTRY_PASSWORD": SECRET, "SCHEMA_REGISTRY_TOKEN": SECRET},
            "keep one of them",
        ),
        ({"SCHEMA_REGISTRY_CA_FILE": "/nowhere"}, "SCHEMA_REGISTRY_CA_FILE names '/nowhere'"),
        ({"REDIS_USERNAME": "u"}, "REDIS_PASSWORD is not"),
        ({"REDIS_CA_FILE": "/nowhere"}, "REDIS_CA_FILE names '/nowhere'"),
        ({"REDIS_URL": "redis://r", "REDIS_CA_FILE": __file__}, "REDIS_URL does not begin with rediss://"),
        ({"REDIS_URL": f"http://u:{SECRET}@r"}, "REDIS_URL is 'http://…@r'"),
        ({"KAFKA_SASL_PASSWORD_FILE": "/nowhere"}, "KAFKA_SASL_PASSWORD_FILE names '/nowhere', which cannot be read"),
        (SCRAM | {"KAFKA_SASL_PASSWORD_FILE": __file__}, "Both KAFKA_SASL_PASSWORD and KAFKA_SASL_PASSWORD_FILE"),
    ],
)
def test_settings_that_do_not_go_together_stop_the_start(set_to, variables, told):
    """With the name of the setting; and no secret is in what is told."""
    set_to(**variables)
    with pytest.raises(SystemExit, match=told) as ended:
        read(Everything)
    assert SECRET not in str(ended.value)


@pytest.mark.parametrize("kind", ["KAFKA_SSL", "SCHEMA_REGISTRY", "REDIS"])
def test_a_certificate_goes_with_its_own_key(set_to, pair, authority, kind):
    """Half of a pair, or the key of another certificate, would be found out in the first handshake."""
    tls = {"KAFKA_SECURITY_PROTOCOL": "SSL", f"{kind}_CERTIFICATE_FILE": pair.certificate}
    set_to(**tls)
    with pytest.raises(SystemExit, match=f"{kind}_KEY_FILE is not: set both"):
        read(Everything)
    set_to(**tls, **{f"{kind}_KEY_FILE": authority.certify("another").key})
    with pytest.raises(SystemExit, match=f"{kind}_CERTIFICATE_FILE and {kind}_KEY_FILE name"):
        read(Everything)
    set_to(**tls, **{f"{kind}_KEY_FILE": pair.key})
    assert read(Everything)


@pytest.mark.parametrize("settings", [SCRAM, OIDC, MSK], ids=["scram", "oidc", "msk-iam"])
def test_secrets_are_shown_nowhere(set_to, settings):
    """Neither by the settings' own text nor where a log writes them."""
    set_to(**settings)
    assert SECRET not in f"{read(Everything)!r} {read(Everything)}"


def test_any_setting_may_stand_in_a_file(set_to, tmp_path):
    """As Kubernetes mounts a secret; an editor's newline at its end is no part of it."""
    secret = tmp_path / "password"
    secret.write_text(f"{SECRET}\n")
    set_to(**without(SCRAM, "KAFKA_SASL_PASSWORD"), KAFKA_SASL_PASSWORD_FILE=secret)
    config = read(KafkaSettings).librdkafka(**{"group.id": "g"})
    assert config == {
        "bootstrap.servers": "k:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "bridge",
        "sasl.password": SECRET,
        "group.id": "g",
    }


def test_two_environments_share_a_cluster_by_prefixes(set_to):
    """Topics, their .dlq and subjects have one prefix; groups have the same unless they are given their own."""
    set_to(KAFKA_TOPIC_PREFIX="blue.")
    settings = read(RegistrySettings)
    assert (settings.topic_name("FollowChanged.dlq"), settings.group_name("w")) == ("blue.FollowChanged.dlq", "blue.w")
    assert settings.registry().subject(TOPICS["FollowChanged"]) == "blue.FollowChanged-value"
    set_to(KAFKA_TOPIC_PREFIX="blue.", KAFKA_GROUP_PREFIX="b-", KAFKA_CLIENT_ID="me")
    assert read(KafkaSettings).group_name("w") == "b-w"
    assert read(KafkaSettings).librdkafka()["client.id"] == "me"


@contextmanager
def serving(answer, pair=None):
    """Serve every request with what the function makes of its headers and its body; give the port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            status, told = answer(self.headers, body)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        do_POST = do_GET  # noqa: N815 - http.server's name

        def log_message(self, *_):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if pair:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # a client that does not trust it breaks off
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


class TestTokens:
    def test_a_token_comes_from_the_endpoint_by_client_credentials(self, authority, pair):
        """Over TLS of one's own authority, with its end."""
        asked = []

        def answer(headers, body):
            asked.append((headers["Authorization"], body))
            return 200, {"access_token": "abc", "expires_in": 60}

        with serving(answer, pair) as port:
            url = f"https://127.0.0.1:{port}/token"
            token = OidcTokens(url, "me", SecretStr(SECRET), "kafka", TlsFiles(str(authority.file)))()
        assert token.value == "abc"
        assert 50 < token.expires_at - time.time() <= 60
        assert asked == [
            (f"Basic {base64.b64encode(f'me:{SECRET}'.encode()).decode()}", "grant_type=client_credentials&scope=kafka")
        ]

    @pytest.mark.parametrize(
        ("status", "told", "match"),
        [(401, {}, "401: check KAFKA_OAUTH_CLIENT_ID"), (200, {}, "without an access_token"), (200, [], "without")],
    )
    def test_an_endpoint_that_gives_none_is_named(self, status, told, match):
        """With what to check, and without the secret."""
        with serving(lambda *_: (status, told)) as port, pytest.raises(TokenError, match=match) as raised:
            OidcTokens(f"http://127.0.0.1:{port}/", "me", SecretStr(SECRET), None, TlsFiles())()
        assert SECRET not in str(raised.value)

    def test_an_endpoint_that_is_away_is_named(self):
        """By its setting."""
        with pytest.raises(TokenError, match=r"KAFKA_OAUTH_TOKEN_URL http://127\.0\.0\.1:9/ does not answer"):
            OidcTokens("http://127.0.0.1:9/", "me", SecretStr(SECRET), None, TlsFiles())()

    def test_msk_takes_a_request_that_is_signed_with_the_credentials_of_boto3(self, monkeypatch):
        """Base64 of a presigned URL of kafka-cluster:Connect, good for a quarter of an hour. AWS was not tried."""
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        token = MskIamTokens("eu-central-1")()
        url = base64.urlsafe_b64decode(token.value + "=" * (-len(token.value) % 4)).decode()
        assert url.startswith("https://kafka.eu-central-1.amazonaws.com/?Action=kafka-cluster%3AConnect")
        assert "AKIAEXAMPLE%2F" in url
        assert SECRET not in url
        assert 850 < token.expires_at - time.time() <= 901


class TestRegistry:
    FOLLOWS = TOPICS["FollowChanged"]

    def ask(self, port, **settings):
        RegistrySettings(
            kafka_bootstrap_servers="k", schema_registry_url=f"https://127.0.0.1:{port}", **settings
        ).registry().compatibility("s")

    @pytest.mark.parametrize(
        ("settings", "header"),
        [
            ({"schema_registry_username": "u", "schema_registry_password": "p"}, "Basic dTpw"),
            ({"schema_registry_token": "t"}, "Bearer t"),
            ({}, None),
        ],
    )
    def test_it_is_told_who_asks(self, authority, pair, settings, header):
        """By basic authentication or a bearer token, over TLS."""
        seen = []

        def answer(headers, _):
            seen.append(headers["Authorization"])
            return 200, {"compatibilityLevel": "FULL"}

        with serving(answer, pair) as port:
            self.ask(port, schema_registry_ca_file=str(authority.file), **settings)
        assert seen == [header]

    def test_a_refusal_and_an_unknown_authority_name_the_setting(self, authority, pair):
        """The one is told by the registry, the other found out by us."""
        with serving(lambda *_: (401, {}), pair) as port:
            with pytest.raises(RegistryAwayError, match=r"401.*check SCHEMA_REGISTRY_USERNAME"):
                self.ask(port, schema_registry_ca_file=str(authority.file))
            with pytest.raises(RegistryAwayError, match=r"CERTIFICATE_VERIFY_FAILED.*check SCHEMA_REGISTRY_CA_FILE"):
                self.ask(port)


@pytest.fixture(scope="module")
def secure(pair):
    """A Redis of TLS alone with one user, who may do little."""
    port = str(free_port())
    files = ("--tls-cert-file", str(pair.certificate), "--tls-key-file", str(pair.key))
    with redis_node("--tls-port", port, *files, "--tls-auth-clients", "no") as node:
        node.redis.execute_command("ACL", "SETUSER", "reader", "on", f">{SECRET}", "+ping", "+info")
        node.redis.execute_command("ACL", "SETUSER", "nobody", "on", f">{SECRET}", "+info")
        node.redis.execute_command("ACL", "SETUSER", "default", "off")
        yield f"rediss://127.0.0.1:{port}/0"


@pytest.mark.stack(shared=False)
class TestRedis:
    def check(self, url, **settings):
        settings = RedisSettings(redis_url=url, **settings)
        nodes = Nodes(settings.redis_url, 1, 1, **settings.redis_options())
        try:
            nodes.check()
        finally:
            nodes.close()

    def test_a_user_comes_in(self, secure, authority):
        """Over TLS, with a password."""
        self.check(secure, redis_ca_file=str(authority.file), redis_username="reader", redis_password=SECRET)

    @pytest.mark.parametrize(
        ("user", "password", "told"),
        [
            ("reader", "wrong", "check REDIS_USERNAME and REDIS_PASSWORD"),
            (None, None, "check REDIS_USERNAME and REDIS_PASSWORD"),
            ("nobody", SECRET, "docs/connections.md has the ACL"),
        ],
    )
    def test_a_refusal_says_what_to_correct(self, secure, authority, user, password, told):
        """A wrong password, none, or too few rights."""
        with pytest.raises(RedisRefusedError, match=told):
            self.check(secure, redis_ca_file=str(authority.file), redis_username=user, redis_password=password)

    def test_an_unknown_authority_is_a_refusal(self, secure):
        """Nothing is sent to whom nobody vouches for."""
        with pytest.raises(RedisRefusedError, match=r"CERTIFICATE_VERIFY_FAILED.*check REDIS_CA_FILE"):
            self.check(secure, redis_username="reader", redis_password=SECRET)
