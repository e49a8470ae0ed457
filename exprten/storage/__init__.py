"""Where elements lie: devices, the memory on them, and its exchange."""
