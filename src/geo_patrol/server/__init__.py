"""Games over a network: the protocol of its messages, tables that play games, the web server, a client."""
