"""The proxy between agents and models: the half of it that does I/O, on top of `adapters.proxying`.

A request goes through `sessions` (which conversation is it, and what is new in it), `upstream` (to
the model and back) and `turns` (the answer is judged, revised, and passed on); `routes.proxy` puts
them together.
"""
