"""Whom of some people the viewer follows. Pure: no I/O.

Rule: the answer is that of `people.relationships`, for fewer reads: only of whom the table says that they are followed
it matters whether they are still somebody.
"""

from collections.abc import Iterable

from contracts.ids import is_user_id
from follow_service import people
from follow_service.follows import Edge
from follow_service.graph import Graph


def following(graph: Graph, viewer_id: str, user_ids: Iterable[str]) -> dict[str, bool]:
    """Say of each of these whether the viewer follows them, in the order asked, strongly consistent."""
    wanted = dict.fromkeys(user_id for user_id in user_ids if is_user_id(user_id))
    edges = graph.lists.among([Edge(viewer_id, user_id) for user_id in wanted if user_id != viewer_id])
    followed = [edge.followee_id for edge in edges]
    shown = {seen.profile.user_id for seen in people.some(graph.people, viewer_id, followed)} if followed else set()
    return {user_id: user_id in shown for user_id in wanted}
