"""Hosts of addresses."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return True if a host can be reached only from this machine. A host name other than `localhost` may be any machine.

    >>> is_loopback("localhost"), is_loopback("[::1]"), is_loopback("192.0.2.1"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return host.lower() == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
