"""What is made of deploy/services.yaml and two templates: the configuration of supervisord and of the gateway."""

import re

import gateway_tls
import secure
from environment import HOST, KAFKAS, LOOPBACK, NAMES, REPO, Stack
from murmuration_gateway.configuration import fill
from murmuration_gateway.door import Door

from murmuration_testkit.services import OWNERS, PROCESSES, SERVICES, Process

STOP_SECONDS = 25  # longer than any service takes to drain: supervisord kills whoever is still there then
_PROGRAM = """
[program:{name}]
command=setpriv --pdeathsig KILL .venv/bin/{command}
environment={environment}
autostart=false
autorestart=true
startsecs=0
killasgroup=true
stopwaitsecs={stop_seconds}
redirect_stderr=true
stdout_logfile=%(ENV_STACK_DIR)s/logs/{name}.log
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=1
"""
# Only here the gateway has the issuer's public keys.
_KEYS = """
    location = /.well-known/jwks.json {{ default_type application/json; alias {directory}/issuer/jwks.json; }}
"""
_AS_MUCH_AS_ONE_LIKES = 60_000  # all of a stack's clients have one address


def supervisor_conf(stack: Stack) -> str:
    """Return the template's programs and one for each process of a service."""
    filled = {
        "REPO": str(REPO),
        "KAFKA_OPTIONS": secure.kafka_options(stack) if stack.secure else "",
        "KAFKA_PROPERTIES": f"{stack.directory}/kafka.properties" if stack.secure else "deploy/local/kafka.properties",
        "REDIS_DOOR": _redis_door(stack, "redis"),
        "LIMITS_REDIS_DOOR": _redis_door(stack, "limits-redis"),
        "SUGGESTIONS_REDIS_DOOR": _redis_door(stack, "suggestions-redis"),
        "GRAPH_REDIS_DOOR": _redis_door(stack, "graph-redis"),
    }
    text = (REPO / "deploy/local/supervisord.conf.in").read_text()
    template = re.sub("@([A-Z_]+)@", lambda name: filled[name[1]], text)
    kafka = template[template.index("[program:kafka]") : template.index("[program:dynamodb]")]
    more = "".join(_another(kafka, name, stack) for name in KAFKAS[1:])
    return template + more + "".join(_program(process, stack) for process in PROCESSES.values())


def gateway_conf(stack: Stack) -> str:
    """Return the gateway's configuration: the image's, and what only the local stack has."""
    door = secure.door(stack) if stack.secure else ""
    address = f"{HOST}:{stack.ports['GATEWAY_PORT']}"
    return fill(
        f"{stack.directory}/gateway",
        "master_process off;  # one process: after kill -9 no worker is left holding the port",
        gateway_tls.listen(stack, address) if stack.tls else f"listen {address};",
        lambda edge: f"127.0.0.1:{_port(stack, SERVICES[edge].processes[0], 'PORT')}",
        Door(
            hosts=["localhost", LOOPBACK, HOST, *NAMES],
            address_rate=_AS_MUCH_AS_ONE_LIKES,
            address_burst=_AS_MUCH_AS_ONE_LIKES,
            address_connections=_AS_MUCH_AS_ONE_LIKES,
            https_only=stack.tls,
            hsts_seconds=gateway_tls.HSTS_SECONDS,
        ),
        https_port=f":{stack.ports['GATEWAY_PORT']}",
        server=_KEYS.format(directory=stack.directory),
        http=door,
    )


def _redis_door(stack: Stack, name: str) -> str:
    """Return what one of the Redises is told of where it listens, and to whom."""
    port = f"{name.replace('-', '_').upper()}_PORT"
    return secure.redis_arguments(stack, name, port) if stack.secure else f"--port %(ENV_{port})s"


def _another(kafka: str, name: str, stack: Stack) -> str:
    """Return the program of another broker."""
    variables = ",".join(f'{variable}="{value}"' for variable, value in stack.kafka(name).items())
    return kafka.replace("program:kafka]", f"program:{name}]\nenvironment={variables}").replace(
        "/kafka.log", f"/{name}.log"
    )


def _program(process: Process, stack: Stack) -> str:
    variables = process.variables(stack.environment()) | {"AWS_ACCESS_KEY_ID": OWNERS[process.name].access_key}
    variables |= secure.of_process(stack, process) if stack.secure else {}
    return _PROGRAM.format(
        name=process.name,
        command=process.command,
        environment=",".join(f'{name}="{value}"' for name, value in variables.items()),
        stop_seconds=STOP_SECONDS,
    )


def _port(stack: Stack, process: Process, port: str) -> int:
    return stack.ports[process.port_variable(port)]
