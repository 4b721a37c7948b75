"""From files to conversations: finding, unpacking, recognising and reading them."""
