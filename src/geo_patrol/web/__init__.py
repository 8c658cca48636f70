"""Games on pages: the server and its messages, scenes as JSON, the pages themselves (``static``)."""
