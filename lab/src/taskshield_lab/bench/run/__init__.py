"""How it is sat: three ways, in processes of their own, each giving records."""
