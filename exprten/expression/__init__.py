"""What operators build: nodes, their structure, their shapes and types. Nothing here computes."""
