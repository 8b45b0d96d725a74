"""What a component is: its operations, its context, its manifest, and how it is declared."""
