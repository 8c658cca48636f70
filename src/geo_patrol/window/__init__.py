"""Windows to watch games in, pictures of environments, films."""

import geo_patrol.drawing  # noqa: F401 - hides pygame's greeting
