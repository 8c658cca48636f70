"""What browsers show: drawings as data for a script, recorded games as pages; ``static`` holds the scripts."""
