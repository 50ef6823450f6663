"""Blocks and mutes over HTTP."""

from collections.abc import Callable

from flask.typing import ResponseReturnValue

from contracts.profiles import DeletedAccountError, NoProfileError
from follow_service import blocks, profiles
from follow_service.graph import Graph
from murmuration_edge.auth import caller
from murmuration_edge.operations import Answer, Operations


def add_blocks(api: Operations, graph: Graph, now: Callable[[], int]) -> None:
    """Add whom the caller does not want to meet, or to read."""
    refusals = DeletedAccountError, NoProfileError, profiles.UnknownUserError, blocks.OneselfError

    @api.add("PUT", "/users/<user_id>/block", {204: Answer("The caller blocks them")}, *refusals)
    def block(user_id: str) -> ResponseReturnValue:
        """Block someone: follows and requests between the two end, and neither reads the other. Safe to repeat."""
        blocks.block(graph.blocks, graph.profiles, caller(), user_id, now())
        return "", 204

    @api.add("DELETE", "/users/<user_id>/block", {204: Answer("The caller does not block them")})
    def unblock(user_id: str) -> ResponseReturnValue:
        """Take a block back; what it ended does not begin again. Safe to repeat, whether or not they exist."""
        blocks.unblock(graph.blocks, caller(), user_id)
        return "", 204

    @api.add("PUT", "/users/<user_id>/mute", {204: Answer("The caller mutes them")}, *refusals)
    def mute(user_id: str) -> ResponseReturnValue:
        """Mute someone: their tweets do not show in the caller's timeline; follows stay. Safe to repeat."""
        blocks.mute(graph.blocks, graph.profiles, caller(), user_id, now())
        return "", 204

    @api.add("DELETE", "/users/<user_id>/mute", {204: Answer("The caller does not mute them")})
    def unmute(user_id: str) -> ResponseReturnValue:
        """Take a mute back. Safe to repeat, whether or not they exist."""
        blocks.unmute(graph.blocks, caller(), user_id)
        return "", 204
