"""What describes a network as a whole: degrees, clustering, path lengths, the fit of a power law."""
