"""A program that serves an SDK agent over ACP on its standard input and output, as the docs say."""

from farhand.sdk import Agent
from farhand.sdk.acp import AcpServer

if __name__ == "__main__":
    AcpServer(Agent()).start()
