"""`python -m sekant` is the command line."""

from sekant.views.cli import main

main()
