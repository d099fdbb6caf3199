"""One campaign of faults over every command: kills, faults of servers, of the disk and of the machine."""
