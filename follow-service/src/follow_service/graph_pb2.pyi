from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IsFollowingRequest(_message.Message):
    __slots__ = ("user_ids",)
    USER_IDS_FIELD_NUMBER: _ClassVar[int]
    user_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class IsFollowingResponse(_message.Message):
    __slots__ = ("answers",)
    class Answer(_message.Message):
        __slots__ = ("user_id", "following")
        USER_ID_FIELD_NUMBER: _ClassVar[int]
        FOLLOWING_FIELD_NUMBER: _ClassVar[int]
        user_id: str
        following: bool
        def __init__(self, user_id: _Optional[str] = ..., following: _Optional[bool] = ...) -> None: ...
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[IsFollowingResponse.Answer]
    def __init__(self, answers: _Optional[_Iterable[_Union[IsFollowingResponse.Answer, _Mapping]]] = ...) -> None: ...

class ListFollowersRequest(_message.Message):
    __slots__ = ("user_id", "cursor", "page_size")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    cursor: str
    page_size: int
    def __init__(self, user_id: _Optional[str] = ..., cursor: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class FollowersPage(_message.Message):
    __slots__ = ("followers", "next_cursor")
    class Follower(_message.Message):
        __slots__ = ("user_id", "followed_at")
        USER_ID_FIELD_NUMBER: _ClassVar[int]
        FOLLOWED_AT_FIELD_NUMBER: _ClassVar[int]
        user_id: str
        followed_at: int
        def __init__(self, user_id: _Optional[str] = ..., followed_at: _Optional[int] = ...) -> None: ...
    FOLLOWERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    followers: _containers.RepeatedCompositeFieldContainer[FollowersPage.Follower]
    next_cursor: str
    def __init__(self, followers: _Optional[_Iterable[_Union[FollowersPage.Follower, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetCountsRequest(_message.Message):
    __slots__ = ("user_ids",)
    USER_IDS_FIELD_NUMBER: _ClassVar[int]
    user_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, user_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetCountsResponse(_message.Message):
    __slots__ = ("counts",)
    class Counts(_message.Message):
        __slots__ = ("user_id", "followers", "following")
        USER_ID_FIELD_NUMBER: _ClassVar[int]
        FOLLOWERS_FIELD_NUMBER: _ClassVar[int]
        FOLLOWING_FIELD_NUMBER: _ClassVar[int]
        user_id: str
        followers: int
        following: int
        def __init__(self, user_id: _Optional[str] = ..., followers: _Optional[int] = ..., following: _Optional[int] = ...) -> None: ...
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedCompositeFieldContainer[GetCountsResponse.Counts]
    def __init__(self, counts: _Optional[_Iterable[_Union[GetCountsResponse.Counts, _Mapping]]] = ...) -> None: ...
