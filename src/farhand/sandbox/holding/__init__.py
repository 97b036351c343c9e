"""The parts of the holder: small, on the standard library alone, importing nothing else of farhand."""
