"""The figures of farhand, each beside a floor that is measured in the same run."""
