"""Wire formats for a proxy between agents and models. No I/O.

`wire_format` says what each format can do, and `wire_formats` lists them. With a session, and a
`provider` that posts a body and gives the chunks of the answer, a guarded stream is this:

    async def guarded(
        wire_format: WireFormat, body: Body, messages: Sequence[int]
    ) -> AsyncIterator[bytes]:
        request, texts = wire_format.read_request(body), {}
        for number in messages:  # those that the session has not seen
            message, place = request.conversation.messages[number], request.places[number]
            decision = await session.add(message)
            if place is not None and decision.content != message.text:
                texts[place] = decision.content
        body, gate = wire_format.with_outputs(body, texts), wire_format.gate()
        answer = await provider(body)  # raises where the status is an error
        while True:
            async for event in events(answer):  # Splitter.feed for each chunk, then Splitter.close
                for data in gate.feed(event):  # on WireFormatError: gate.fail("...")
                    yield data
            gate.close()
            if gate.complete is None:
                ending = gate.fail_incomplete()
                break
            decision = await session.add(gate.complete.messages[0])
            refused = {verdict.call.id for verdict in decision.calls if not verdict.allowed}
            if decision.action != "revise":
                allowed = decision.allowed
                ending = gate.release() if allowed else gate.release_without(refused, note)
                break
            body = wire_format.with_feedback(body, gate.response, refused, decision.content)
            answer = await provider(body)  # where this fails: release_without
            for data in gate.next_round():
                yield data
        for data in ending:
            yield data

Without streaming the loop is the same: `read_response`, then `without_calls` or `with_feedback`,
and `usage.with_usage_of` at the end. An answer with several choices has several messages and no
feedback rounds. `resumed` of the Responses format is for a request that continues a response from
which calls were removed.
"""
