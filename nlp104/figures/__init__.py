"""What the chapters draw with: style, plots, the architecture, explorables; and exercises."""
