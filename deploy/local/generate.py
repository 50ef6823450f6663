"""What is made of deploy/services.yaml and two templates: the configuration of supervisord and of the gateway."""

import re

import secure
from environment import KAFKAS, REPO, Stack

from murmuration_testkit.services import PROCESSES, SERVICES, Process

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


def supervisor_conf(stack: Stack) -> str:
    """Return the template's programs and one for each process of a service."""
    filled = {
        "REPO": str(REPO),
        "KAFKA_OPTIONS": secure.kafka_options(stack) if stack.secure else "",
        "KAFKA_PROPERTIES": f"{stack.directory}/kafka.properties" if stack.secure else "deploy/local/kafka.properties",
        "REDIS_DOOR": secure.redis_arguments(stack) if stack.secure else "--port %(ENV_REDIS_PORT)s",
    }
    text = (REPO / "deploy/local/supervisord.conf.in").read_text()
    template = re.sub("@([A-Z_]+)@", lambda name: filled[name[1]], text)
    kafka = template[template.index("[program:kafka]") : template.index("[program:dynamodb]")]
    more = "".join(_another(kafka, name, stack) for name in KAFKAS[1:])
    return template + more + "".join(_program(process, stack) for process in PROCESSES.values())


def gateway_conf(stack: Stack) -> str:
    """Return the gateway's configuration: each service's routes, and each process's probes."""
    filled = stack.environment() | {
        "SECURE_DOOR": secure.door(stack) if stack.secure else "",
        "ROUTES": "\n".join(
            f"    location ~ {route} {{ proxy_pass http://127.0.0.1:{_port(stack, service.processes[0], 'PORT')}; }}"
            for service in SERVICES.values()
            for route in service.routes
        ),
        "PROCESSES": "|".join(PROCESSES),
        "ADMIN_PORTS": "\n".join(f"    {each.name} {_port(stack, each, 'ADMIN_PORT')};" for each in PROCESSES.values()),
        "API_PORTS": "\n".join(
            f"    {each.name} {_port(stack, each, 'PORT')};" for each in PROCESSES.values() if "PORT" in each.ports
        ),
    }
    template = (REPO / "deploy/local/nginx.conf.in").read_text()
    return re.sub("@([A-Z_]+)@", lambda name: filled[name[1]], template)


def _another(kafka: str, name: str, stack: Stack) -> str:
    """Return the program of another broker."""
    variables = ",".join(f'{variable}="{value}"' for variable, value in stack.kafka(name).items())
    return kafka.replace("program:kafka]", f"program:{name}]\nenvironment={variables}").replace(
        "/kafka.log", f"/{name}.log"
    )


def _program(process: Process, stack: Stack) -> str:
    variables = process.variables(stack.environment()) | (secure.of_process(stack, process) if stack.secure else {})
    return _PROGRAM.format(
        name=process.name,
        command=process.command,
        environment=",".join(f'{name}="{value}"' for name, value in variables.items()),
        stop_seconds=STOP_SECONDS,
    )


def _port(stack: Stack, process: Process, port: str) -> int:
    return stack.ports[process.port_variable(port)]
