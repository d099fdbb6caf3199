"""What runs by itself: the scheduled flows, how they are deployed and served, what they leave to look at."""
