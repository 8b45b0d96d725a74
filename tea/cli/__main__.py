"""`python -m tea.cli` is `tea`."""

from tea.cli import main

if __name__ == "__main__":
    main()
