"""Each view, driven in a real browser against the real server."""

import json
import re

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.dashboard import demo


@pytest.fixture(scope="module", autouse=True)
def stories(client: httpx.Client) -> None:
    demo.fill(client)


def test_live_lists_sessions_with_counts_and_opens_them(page: Page) -> None:
    page.goto("/")
    row = page.locator(".row", has_text="mail-summary-5b09")
    expect(row).to_contain_text("Summarise my newest e-mail")
    expect(row.locator(".row-number.bad")).to_contain_text("1")
    expect(page.locator(".tile-value").first).not_to_have_text("–")
    row.locator("a").click()
    expect(page.get_by_role("heading", name="mail-summary-5b09")).to_be_visible()
    expect(page).to_have_url(re.compile("#/sessions/mail-summary-5b09$"))


def test_live_filters_by_words_and_by_outcome(page: Page) -> None:
    page.goto("/#/live")
    rows = page.locator(".row:visible")
    asking = rows.filter(has=page.get_by_role("link", name="rent-march", exact=True))
    expect(asking).to_have_count(1)
    page.get_by_label("Filter sessions").fill("BERGEN")
    expect(rows).to_have_count(1)
    expect(page.get_by_text(re.compile("1 of .* sessions"))).to_be_visible()
    page.get_by_label("Filter sessions").fill("")
    page.get_by_label("Outcome").select_option("asked")
    expect(rows.filter(has_text="travel-bergen")).to_have_count(0)
    expect(asking).to_have_count(1)


def test_new_decisions_appear_without_a_reload(page: Page, client: httpx.Client) -> None:
    page.goto("/#/live")
    expect(page.locator(".connection")).to_have_text("live")
    demo.begin(client, "just-begun", demo.DESK)
    asked = demo.user("What is on my calendar on Monday?")
    demo.say(client, "just-begun", asked, by="calendar-bot")
    first = page.locator(".row").first
    expect(first).to_contain_text("just-begun", timeout=8000)
    expect(first.locator(".row-agent")).to_have_text("calendar-bot")
    expect(first.locator(".tag")).to_have_text("native")
    demo.say(client, "just-begun", demo.agent(c1={"tool": "list_events", "day": "Monday"}))
    expect(first).to_contain_text("2 messages", timeout=8000)


def test_a_paused_list_stays_as_it_is(page: Page, client: httpx.Client) -> None:
    page.goto("/#/live")
    expect(page.locator(".row", has_text="mail-71e2")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    demo.begin(client, "while-paused", demo.DESK)
    with page.expect_response(re.compile("/api/sessions")):
        demo.say(client, "while-paused", demo.user("What is on my calendar?"))
        page.get_by_role("button", name="Pause").click()
    expect(page.locator(".row", has_text="while-paused")).to_be_visible()


def test_a_session_shows_findings_scores_and_where_values_came_from(page: Page) -> None:
    page.goto("/#/sessions/mail-summary-5b09")
    output = page.locator("#message-3")
    expect(output.locator("mark.bad").first).to_contain_text("Note to the AI assistant")
    expect(output).to_contain_text("Annotated")
    call = page.locator("#message-4")
    expect(call.locator(".argument", has_text="desk@harbourpost-news.example")).to_contain_text(
        "injected"
    )
    expect(call).to_contain_text("Sent back")
    expect(page.locator("#message-5 .argument", has_text="tove@")).to_contain_text("user")
    matrix = page.locator(".matrix")
    expect(matrix.locator("thead th")).to_have_text(
        ["Instruction", "T1", "T2", "Sum", "Authorisation"]
    )
    expect(matrix.locator("tbody tr")).to_have_count(4)
    expect(matrix.locator("tr.bad")).to_have_count(2)
    expect(matrix.locator("tr.bad").last).to_contain_text("contradicted")  # another recipient
    expect(call.locator(".tag", has_text="contradicted")).to_be_visible()


def test_a_contradiction_is_shown_beside_its_task_and_in_the_matrix(page: Page) -> None:
    def contradicted(route: Route) -> None:
        told = route.fetch().json()
        (finding,) = told["items"][4]["decision"]["findings"]
        finding["authorisation"] = "contradicted"
        finding["contradictions"] = [
            {"target": "t2", "kind": "look_only", "said": "<b>only</b> look\u202e", "does": "send"}
        ]
        route.fulfill(json=told)

    page.route("**/api/sessions/*/timeline*", contradicted)
    page.goto("/#/sessions/mail-summary-5b09")
    words = "ruled out (look only): “<b>only</b> look<U+202E>”, and “send”"
    expect(page.locator(".tasks li").nth(1)).to_contain_text(f"#4: {words}")
    expect(page.locator(".tasks li").nth(0)).not_to_contain_text("ruled out")
    (cell,) = page.locator(".matrix td.ruled-out").all()
    expect(cell).to_have_text("ruled out")
    expect(cell).to_have_attribute("title", words)
    expect(page.locator(".matrix tr:has(.ruled-out)")).to_contain_text("contradicted")


def test_a_link_leads_from_an_argument_to_the_text_it_came_from(page: Page) -> None:
    page.goto("/#/sessions/mail-summary-5b09")
    argument = page.locator("#message-4 .argument", has_text="desk@harbourpost-news.example")
    argument.focus()
    expect(page.locator(".links .link.on")).to_have_count(1)
    source = page.locator("#message-3 mark.on")
    expect(source).to_have_text("desk@harbourpost-news.example")
    link, mark = page.locator(".link.on path").first.bounding_box(), source.bounding_box()
    assert link is not None and mark is not None
    assert mark["y"] < link["y"] < mark["y"] + mark["height"] + 4


@pytest.mark.parametrize(
    "before", ["", "🙂🙃 Grüße 🇳🇴\n", "Nothing happened.\n" * 3000], ids=["first", "emoji", "long"]
)
def test_a_finding_is_marked_where_it_is(page: Page, client: httpx.Client, before: str) -> None:
    known, said = demo.TIDAL
    session = f"marked-{len(before)}"
    demo.begin(client, session, known)
    text = f"{before}{said[3]['text']}"
    decision = demo.say(client, session, *said[:3], demo.output("c1", text))[-1]
    spans = [finding["instruction"]["origin"]["span"] for finding in decision["findings"]]
    page.goto(f"/#/sessions/{session}")
    marks = page.locator("#message-3 mark.bad")
    expect(marks.first).to_be_visible()
    shown = "".join(
        marks.evaluate_all(
            """marks => marks.map((mark) => [...mark.childNodes]
            .filter((node) => node.className !== 'mark-label')
            .map((node) => node.textContent).join(''))"""
        )
    )
    assert shown == "".join(text[span["start"] : span["end"]] for span in spans)
    if len(before) > 10_000:
        page.locator("#message-3 .gap").first.click()
        expect(page.locator("#message-3 .gap")).to_have_count(0)


@pytest.fixture(scope="module")
def long_session(client: httpx.Client) -> str:
    """120 messages."""
    demo.begin(client, "long", demo.MAIL)
    demo.say(client, "long", *[demo.user(f"Note number {index}.") for index in range(120)])
    return "long"


def test_a_long_session_loads_page_by_page_and_completely(page: Page, long_session: str) -> None:
    page.goto(f"/#/sessions/{long_session}")
    expect(page.locator("#message-0")).to_be_visible()
    assert page.locator(".message").count() <= 100
    while page.locator(".message").count() < 120:
        page.mouse.wheel(0, 20_000)
        page.wait_for_timeout(50)
    expect(page.get_by_text("No more messages.")).to_be_visible()
    numbers = page.locator(".message .number").all_text_contents()
    assert numbers == [f"#{index}" for index in range(120)]


def test_a_link_into_a_long_session_leads_to_its_message(page: Page, long_session: str) -> None:
    page.goto(f"/#/sessions/{long_session}/110")
    expect(page.locator("#message-110")).to_be_in_viewport(timeout=15_000)


def test_new_messages_appear_in_an_open_session(page: Page, client: httpx.Client) -> None:
    page.goto("/#/sessions/mail-71e2")
    expect(page.locator(".message")).to_have_count(4)
    expect(page.locator(".connection")).to_have_text("live")
    demo.say(client, "mail-71e2", demo.user("And the week before?"))
    expect(page.locator(".message")).to_have_count(5)


def test_an_unknown_session_is_reported(page: Page) -> None:
    page.goto("/#/sessions/nowhere")
    expect(page.get_by_role("alert")).to_contain_text("no such session")


def test_the_playground_runs_a_sample_and_says_why(page: Page) -> None:
    page.goto("/#/playground")
    page.locator(".sample:has(.dot.bad)").first.click()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".verdict.bad")).to_contain_text("Blocks")
    expect(page.locator(".run .link").first).to_be_attached()
    page.locator(".sample:has(.dot.good)").first.click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".verdict.good")).to_contain_text("Everything serves")


def test_the_playground_takes_a_form_and_json(page: Page) -> None:
    page.goto("/#/playground")
    expect(page.locator(".sample[aria-pressed=true]")).to_have_count(1)
    page.get_by_role("button", name="JSON").click()
    written = {"taskshield": 1, "tools": [{"name": "send_mail"}], "messages": [demo.user("Hello")]}
    editor = page.get_by_label("Conversation as JSON")
    editor.fill(json.dumps(written))
    page.get_by_role("button", name="Form").click()
    page.get_by_role("button", name="assistant", exact=True).click()
    page.get_by_label("Arguments of call 1 in message 1").fill('{"to": "eve@example.com"}')
    page.get_by_role("button", name="JSON").click()
    now = json.loads(editor.input_value())
    assert now["messages"][1]["tool_calls"] == [
        {"id": "c1", "name": "send_mail", "arguments": {"to": "eve@example.com"}}
    ]
    editor.fill("{")
    expect(page.locator("#json-error")).to_contain_text("Not JSON")
    expect(page.get_by_role("button", name="Run")).to_be_disabled()


def test_errors_in_a_conversation_are_shown_in_the_servers_words(page: Page) -> None:
    page.goto("/#/playground")
    expect(page.locator(".sample[aria-pressed=true]")).to_have_count(1)
    page.get_by_role("button", name="JSON").click()
    page.get_by_label("Conversation as JSON").fill('{"taskshield": 1, "messages": [{"x": 1}]}')
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".results").get_by_role("alert")).to_contain_text("messages")


def test_a_conversation_is_shared_as_a_link(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/#/playground")
    expect(page.locator(".sample[aria-pressed=true]")).to_have_count(1)
    page.get_by_role("button", name="JSON").click()
    text = "Grüße 🙂 <b>an alle</b>"
    written = {"taskshield": 1, "tools": [], "messages": [demo.user(text)]}
    page.get_by_label("Conversation as JSON").fill(json.dumps(written))
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    other = page.context.new_page()
    other.goto(link)
    expect(other.get_by_label("Text of message 0")).to_have_value(text)
    other.goto(re.sub(r"playground/.*", "playground/bm90LWRlZmxhdGU", link))
    other.reload()
    expect(other.get_by_text("has no conversation")).to_be_visible()


def test_requests_to_copy_work(page: Page, client: httpx.Client) -> None:
    page.goto("/#/playground")
    page.locator(".sample:has(.dot.bad)").first.click()
    page.get_by_text("As cURL, Python or Azure request").click()
    sections = page.locator(".requests section")
    expect(sections.locator("h3")).to_have_text(["cURL", "Python", "Azure"])
    curl, python, azure = sections.locator("code").all_inner_texts()
    compile(python, "copied", "exec")
    written = re.search(r"^body = (.*)$", python, re.MULTILINE)
    assert written is not None
    path, body = curled(curl)
    assert path == "/api/playground" and body == json.loads(json.loads(written[1]))
    assert client.post(path, json=body).json()["runs"][0]["judge"] == "embedded"
    path, body = curled(azure)
    assert client.post(path, json=body).json()["taskRiskDetected"] is True


def curled(text: str) -> tuple[str, demo.Json]:
    """The path and the body of a command line."""
    path = re.search(r"'http://[^/]*(/[^']*)'", text)
    body = re.search(r"-d '(.*)'$", text, re.DOTALL)
    assert path is not None and body is not None
    return path[1], json.loads(body[1].replace("'\\''", "'"))


def test_judges_stand_side_by_side(page: Page) -> None:
    """With a judge that this server does not have: both runs show the answer of the one."""

    def me(route: Route) -> None:
        answer = route.fetch()
        known = {**answer.json(), "judges": ["embedded", "other"]}
        route.fulfill(response=answer, json=known)

    def runs(route: Route) -> None:
        asked = route.request.post_data_json
        assert asked is not None and asked["judges"] == ["embedded", "other"]
        answer = route.fetch(post_data=json.dumps({**asked, "judges": ["embedded"]}))
        run = answer.json()["runs"][0]
        failed = {**run, "judge": "other", "decisions": [], "error": "no key is set"}
        route.fulfill(response=answer, json={"runs": [run, failed]})

    page.route("**/page/me", me)
    page.route("**/api/playground", runs)
    page.goto("/#/playground")
    page.get_by_label("other").check()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".run")).to_have_count(2)
    left, right = (page.locator(".run").nth(index).bounding_box() for index in (0, 1))
    assert left is not None and right is not None
    assert right["x"] > left["x"] and right["y"] == left["y"]
    expect(page.locator(".run").nth(1)).to_contain_text("no key is set")


def test_health_counts_checks_and_takes_labels(page: Page, client: httpx.Client) -> None:
    page.goto("/#/health")
    expect(page.get_by_text("Ready: the self-test passed")).to_be_visible()
    expect(page.locator(".tile", has_text="Blocked").locator(".tile-value")).not_to_have_text("0")
    expect(page.get_by_role("img", name=re.compile("Checks over time: .*blocked"))).to_be_visible()
    expect(page.locator(".bars li", has_text="http_post")).to_be_visible()
    others = len(client.get("/api/labels").json()["items"])
    row = page.locator(".review-row", has_text="paste.collect-it").first
    row.get_by_label("Note").fill("it was allowed")
    row.get_by_role("button", name="Wrong").click()
    expect(row.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".review-panel header")).to_contain_text(re.compile(f"{others + 1} label"))
    with page.expect_download() as download:
        page.get_by_role("link", name="Export labelled cases").click()
    exported = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert "it was allowed" in [line["label"]["note"] for line in exported]
    row.get_by_role("button", name="Wrong").click()
    expect(row.get_by_role("button", name="Wrong")).to_have_attribute("aria-pressed", "false")
    assert len(client.get("/api/labels").json()["items"]) == others


def test_a_decision_is_marked_where_it_stands(page: Page) -> None:
    page.goto("/#/sessions/issue-212")
    message = page.locator("#message-3")
    message.get_by_role("button", name="Mark as wrong").click()
    expect(message.get_by_role("button", name="Marked as wrong")).to_be_visible()
    page.reload()
    message.get_by_role("button", name="Marked as wrong").click()
    expect(message.get_by_role("button", name="Mark as wrong")).to_be_visible()


def test_benchmarks_show_the_figures(page: Page) -> None:
    page.goto("/#/benchmarks")
    expect(page.get_by_role("heading", name="Judges compared")).to_be_visible()
    attacks = page.locator("figure", has_text="Attacks that succeed")
    expect(attacks.locator("li", has_text="embedded")).to_contain_text("%")
    page.locator(".benchmarks summary").first.click()
    expect(page.locator(".benchmarks table").first).to_be_visible()


def test_an_unknown_route_leads_to_the_list(page: Page) -> None:
    page.goto("/#/nothing/here")
    expect(page.get_by_role("heading", name="Live")).to_be_visible()
