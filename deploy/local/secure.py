"""The stack's second mode: every store asks who is there, over TLS. `SECURE=scram make up`, or SECURE=oauthbearer.

Kafka takes SCRAM and OAUTHBEARER and has an ACL for each service, the registry stands behind nginx with a password,
both Redises have the users of deploy/*.acl; DynamoDB and the keys of the issuer have only TLS. Certificates, passwords
and tokens are made when the stack is first brought up. STACK_HOST=172.16.0.9 has all listen there, for other machines,
and STACK_NAMES='kafka.stores redis.stores' says what else they call it: both stand in the certificate.
"""

import json
import re
import secrets

from environment import HOST, ISSUER, NAMES, REPO, Stack
from issuer import LIFETIME, service_token

from murmuration_testkit.certificates import Authority
from murmuration_testkit.services import OWNERS, SERVICES, Process

ADMIN, REGISTRY = "admin", "registry"
READER = "reader"  # a consumer outside, who may read these topics and nothing else
READS = "FollowChanged,TweetCreated,TweetDeleted,UserChanged"
USERS = (ADMIN, REGISTRY, READER, *SERVICES, "suggestions")
PREFIX = "secure."
_KAFKA = """
listeners=SASL_SSL://${{env:KAFKA_NODE_ADDRESS}},CONTROLLER://${{env:KAFKA_NODE_CONTROLLER}}
listener.security.protocol.map=SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location={server}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
sasl.enabled.mechanisms=SCRAM-SHA-512,OAUTHBEARER
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config={scram} username="admin" password="{password}";
listener.name.sasl_ssl.oauthbearer.sasl.jaas.config={oauth}OAuthBearerLoginModule required;
listener.name.sasl_ssl.oauthbearer.sasl.server.callback.handler.class={oauth}OAuthBearerValidatorCallbackHandler
sasl.oauthbearer.jwks.endpoint.url={jwks}
sasl.oauthbearer.expected.issuer={issuer}
sasl.oauthbearer.expected.audience=kafka
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
# ANONYMOUS is the broker at the controller's door; nobody else comes in without a name.
super.users=User:admin;User:registry;User:ANONYMOUS
"""
_REGISTRY = """
apicurio.kafka.common.security.protocol=SASL_SSL
apicurio.kafka.common.ssl.truststore.type=PEM
apicurio.kafka.common.ssl.truststore.location={ca}
apicurio.kafka.common.sasl.mechanism=SCRAM-SHA-512
apicurio.kafka.common.sasl.jaas.config={scram} username="registry" password="{password}";
"""
_DOOR = """
  # Nobody but the operator writes to the registry.
  map "$remote_user $request_method" $may_ask_the_registry {{ default 0; "~ (GET|HEAD)$" 1; "~^admin " 1; }}
  server {{
    listen {host}:{port} ssl;
    ssl_certificate {directory}/certificates/server.crt;
    ssl_certificate_key {directory}/certificates/server.key;
    auth_basic "murmuration";
    auth_basic_user_file {directory}/secrets/htpasswd;
    location = / {{
      auth_basic off;
      client_max_body_size 16m;
      client_body_buffer_size 1m;
      proxy_pass http://127.0.0.1:{dynamodb};
    }}
    location = /.well-known/jwks.json {{
      auth_basic off;
      default_type application/json;
      alias {directory}/issuer/jwks.json;
    }}
    location /apis/ccompat/v7/ {{
      if ($may_ask_the_registry = 0) {{ return 403; }}
      proxy_pass http://127.0.0.1:{registry};
    }}
    # A token endpoint: a POST is no business of files, and the page of that error is the client's own token.
    location = /token {{ error_page 405 =200 /tokens/$remote_user.json; alias {directory}/certificates/ca.pem; }}
    location /tokens/ {{ internal; default_type application/json; alias {directory}/secrets/tokens/; }}
  }}
"""
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_OAUTH = "org.apache.kafka.common.security.oauthbearer."


def prepare(stack: Stack) -> None:
    """Make certificates, passwords and tokens, and what the stores are told of them; what is there already stays."""
    kept = stack.directory / "secrets"
    if not kept.exists():
        authority = Authority(stack.directory / "certificates")
        pair = authority.certify("server", HOST, *NAMES)
        together = pair.key.read_bytes() + pair.certificate.read_bytes()
        pair.key.with_suffix(".pem").write_bytes(together)
        (kept / "tokens").mkdir(parents=True, mode=0o700)
        for user in USERS:
            (kept / user).write_text(secrets.token_hex(16))
            token = service_token(stack.directory / "issuer", user)
            told = {"access_token": token, "token_type": "Bearer", "expires_in": int(LIFETIME.total_seconds())}
            (kept / f"tokens/{user}.json").write_text(json.dumps(told))
    words = {user: (kept / user).read_text() for user in USERS}
    (kept / "htpasswd").write_text("".join(f"{user}:{{PLAIN}}{word}\n" for user, word in words.items()))
    for name in ("redis", "limits-redis", "suggestions-redis", "graph-redis"):
        (kept / f"{name}.acl").write_text(redis_acl(name, words))
    ca = stack.directory / "certificates/ca.pem"
    (kept / "registry.properties").write_text(_REGISTRY.format(ca=ca, scram=_SCRAM, password=words[REGISTRY]))


def redis_acl(name: str, words: dict[str, str]) -> str:
    """Return the ACL file of a Redis: the services' users, and one for whoever looks after it."""
    users = (REPO / f"deploy/{name}.acl").read_text()
    with_words = re.sub(r"(?m)^user (\S+) on >PASSWORD", lambda user: f"user {user[1]} on >{words[user[1]]}", users)
    return f"user default off\nuser {ADMIN} on >{words[ADMIN]} ~* &* +@all\n{with_words}"


def kafka_properties(stack: Stack, plain: str) -> str:
    """Return the broker's properties of this mode, made of the usual ones."""
    usual = "".join(line for line in plain.splitlines(keepends=True) if not line.startswith("listener"))
    return usual + _KAFKA.format(
        server=stack.directory / "certificates/server.pem",
        ca=stack.directory / "certificates/ca.pem",
        scram=_SCRAM,
        oauth=_OAUTH,
        password=(stack.directory / "secrets" / ADMIN).read_text(),
        jwks=jwks(stack),
        issuer=ISSUER,
    )


def kafka_options(stack: Stack) -> str:
    """Return what Java is told of where Kafka may find keys."""
    return f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={jwks(stack)} "


def jwks(stack: Stack) -> str:
    """Return where Kafka finds the issuer's public keys."""
    return (stack.directory / "issuer/jwks.json").as_uri()


def kafka_format(stack: Stack) -> list[str]:
    """Return what the format of Kafka's directory is told besides: the users of SCRAM."""
    words = ((user, (stack.directory / "secrets" / user).read_text()) for user in USERS)
    return [word for user, text in words for word in ("-S", f"SCRAM-SHA-512=[name={user},password={text}]")]


def redis_arguments(stack: Stack, name: str, port: str) -> str:
    """Return what Redis is told instead of its port; the file of its users has its name."""
    certificates = stack.directory / "certificates"
    files = f"--tls-cert-file {certificates}/server.crt --tls-key-file {certificates}/server.key"
    door = f"--bind {HOST} --port 0 --tls-port {stack.ports[port]} --tls-auth-clients no {files}"
    return f"{door} --aclfile {stack.directory}/secrets/{name}.acl"


def door(stack: Stack) -> str:
    """Return nginx's server before DynamoDB, the registry and the tokens."""
    return _DOOR.format(
        host=HOST,
        port=stack.ports["SECURE_PORT"],
        registry=stack.ports["REGISTRY_PORT"],
        dynamodb=stack.ports["DYNAMODB_PORT"],
        directory=stack.directory,
    )


def environment(stack: Stack) -> dict[str, str]:
    """Return what whoever looks after the stack finds in the environment."""
    ca = str(stack.directory / "certificates/ca.pem")
    secure = f"https://{HOST}:{stack.ports['SECURE_PORT']}"
    return {
        "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "KAFKA_SSL_CA_FILE": ca,
        "KAFKA_TOPIC_PREFIX": PREFIX,
        "SCHEMA_REGISTRY_URL": f"{secure}/apis/ccompat/v7",
        "SCHEMA_REGISTRY_CA_FILE": ca,
        "REDIS_URL": f"rediss://{HOST}:{stack.ports['REDIS_PORT']}/0",
        "REDIS_CA_FILE": ca,
        "LIMITS_REDIS_URL": f"rediss://{HOST}:{stack.ports['LIMITS_REDIS_PORT']}/0",
        "LIMITS_REDIS_CA_FILE": ca,
        "SUGGESTIONS_REDIS_URL": f"rediss://{HOST}:{stack.ports['SUGGESTIONS_REDIS_PORT']}/0",
        "SUGGESTIONS_REDIS_CA_FILE": ca,
        "GRAPH_REDIS_URL": f"rediss://{HOST}:{stack.ports['GRAPH_REDIS_PORT']}/0",
        "GRAPH_REDIS_CA_FILE": ca,
        "AWS_ENDPOINT_URL_DYNAMODB": secure,
        "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": secure,
        "AWS_CA_BUNDLE": ca,
        **({"KAFKA_SASL_MECHANISM": "SCRAM-SHA-512"} if stack.secure == "scram" else {}),
        **(
            {
                "KAFKA_SASL_MECHANISM": "OAUTHBEARER",
                "KAFKA_OAUTH_TOKEN_URL": f"{secure}/token",
                "KAFKA_OAUTH_CA_FILE": ca,
            }
            if stack.secure == "oauthbearer"
            else {}
        ),
        "QUARKUS_CONFIG_LOCATIONS": str(stack.directory / "secrets/registry.properties"),
        **as_user(stack, ADMIN),
    }


def as_user(stack: Stack, user: str) -> dict[str, str]:
    """Return the variables that say who one is."""
    password = str(stack.directory / "secrets" / user)
    kafka = {"KAFKA_SASL_USERNAME": user, "KAFKA_SASL_PASSWORD_FILE": password}
    if stack.secure == "oauthbearer":
        kafka = {"KAFKA_OAUTH_CLIENT_ID": user, "KAFKA_OAUTH_CLIENT_SECRET_FILE": password}
    return kafka | {
        "SCHEMA_REGISTRY_USERNAME": user,
        "SCHEMA_REGISTRY_PASSWORD_FILE": password,
        "REDIS_USERNAME": user,
        "REDIS_PASSWORD_FILE": password,
        "LIMITS_REDIS_USERNAME": user,
        "LIMITS_REDIS_PASSWORD_FILE": password,
        "SUGGESTIONS_REDIS_USERNAME": user,
        "SUGGESTIONS_REDIS_PASSWORD_FILE": password,
        "GRAPH_REDIS_USERNAME": user,
        "GRAPH_REDIS_PASSWORD_FILE": password,
    }


def of_process(stack: Stack, process: Process) -> dict[str, str]:
    """Return what one service's process finds in its environment instead."""
    return as_user(stack, OWNERS[process.name].name)
