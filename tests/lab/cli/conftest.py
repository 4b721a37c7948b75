from tests.cli.conftest import bare_environment as bare_environment
