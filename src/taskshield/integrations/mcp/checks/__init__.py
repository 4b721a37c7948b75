"""Who checks the messages of a gateway: a judge in this process or a taskshield server."""
