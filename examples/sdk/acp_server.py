"""An agent for editors: name this program as an ACP agent in the editor's settings."""

from farhand.sdk import Agent
from farhand.sdk.acp import AcpServer

AcpServer(Agent(instructions="You look after the tests of this project.")).start()
