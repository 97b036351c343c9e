"""Chooses who listens to recordings: a service, a program, or nobody."""

from collections.abc import Mapping
from pathlib import Path

from farhand.model.voice import Transcriber, VoiceOptions
from farhand.voice.program import ProgramTranscriber
from farhand.voice.service import ServiceTranscriber


def transcriber(options: VoiceOptions, folder: Path, environment: Mapping[str, str]) -> Transcriber | None:
    """Who listens; None where nothing is set up. A program is asked before a service: what is said stays here."""
    if options.command:
        return ProgramTranscriber(options, folder, environment)
    return ServiceTranscriber(options) if options.url else None
