"""The gateway's settings: which are refused, and that nginx takes what they become."""

import subprocess

import pytest
from murmuration_gateway import configuration
from murmuration_gateway.door import Door, DoorError, read

from .own_gateway import PATH


@pytest.mark.parametrize(
    ("given_settings", "named"),
    [
        ({"HOSTS": "a;b"}, "HOSTS"),
        ({"HOSTS": "api.example; return 200"}, "HOSTS"),
        ({"CORS_ORIGINS": "*"}, "CORS_ORIGINS"),
        ({"CORS_ORIGINS": "https://app.example/"}, "CORS_ORIGINS"),
        ({"TRUSTED_PROXIES": "10.0.0.0/99"}, "TRUSTED_PROXIES"),
        ({"ADDRESS_RATE": "0"}, "ADDRESS_RATE"),
        ({"HSTS_SECONDS": "long"}, "HSTS_SECONDS"),
        ({"HTTPS_ONLY": "yes"}, "HTTPS_ONLY"),
        ({"HTTPS_ONLY": "true", "TRUSTED_PROXIES": "10.0.0.0/8"}, "HOSTS"),
        ({"HTTPS_ONLY": "true", "HOSTS": "api.example"}, "certificate"),
    ],
)
def test_a_setting_that_is_wrong_is_named(given_settings, named):
    """And no setting is a way to write nginx's configuration."""
    with pytest.raises(DoorError, match=named):
        read(given_settings)


@pytest.mark.stack(shared=False)
def test_nginx_takes_what_all_settings_together_become(tmp_path):
    """Nginx -t, which also finds what is only a warning."""
    everything = Door(
        ["a.example"], ["https://app.example"], ["10.0.0.0/8", "fd00::/8"], 1, 2, 3, https_only=True, hsts_seconds=4
    )
    text = configuration.fill(
        str(tmp_path), "worker_processes 2;", "listen 127.0.0.1:9;", lambda _: "10.0.0.1:9", everything
    )
    (tmp_path / "nginx.conf").write_text(text)
    command = ["nginx", "-t", "-q", "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, env={"PATH": PATH}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
