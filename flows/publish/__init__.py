"""Publishing: a release that stands and was audited goes to the Hub."""
