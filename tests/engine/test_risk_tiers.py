"""Risk tiers are inferred from names, descriptions, parameters and annotations."""

import pytest

from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolAnnotations, ToolSpec
from taskshield.engine.risk_tiers import infer, tier_of


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("get_weather", Tier.READ),
        ("listUsers", Tier.READ),
        ("search-files", Tier.READ),
        ("calendar.find_events", Tier.READ),
        ("get_payment_history", Tier.READ),
        ("HTTPStatusCheck", Tier.READ),
        ("sort_inbox", Tier.READ),
        ("inbox_sort", Tier.WRITE),
        ("create_note", Tier.WRITE),
        ("rename_folder", Tier.WRITE),
        ("book_room", Tier.WRITE),
        ("send_message", Tier.EXTERNAL),
        ("postTweet", Tier.EXTERNAL),
        ("upload_file", Tier.EXTERNAL),
        ("create_email", Tier.EXTERNAL),
        ("delete_event", Tier.DESTRUCTIVE),
        ("clear_calendar", Tier.DESTRUCTIVE),
        ("execute_sql", Tier.DESTRUCTIVE),
        ("pay_bill", Tier.FINANCIAL),
        ("send_money", Tier.FINANCIAL),
        ("create_invoice", Tier.FINANCIAL),
        ("share_document", Tier.ACCESS),
        ("invite_guest", Tier.ACCESS),
        ("change_password", Tier.ACCESS),
        ("add_user_to_group", Tier.ACCESS),
        ("search_and_delete_mail", Tier.DESTRUCTIVE),
        ("getOrCreatePayment", Tier.FINANCIAL),
        ("find_and_replace", Tier.WRITE),
        ("test_then_deploy", Tier.EXTERNAL),
        ("check_out_cart", Tier.FINANCIAL),
        ("frobnicate", Tier.WRITE),
        ("", Tier.WRITE),
    ],
)
def test_the_name_of_a_declared_tool_tells_its_tier(name: str, tier: Tier) -> None:
    assert infer(ToolSpec(name=name)) is tier


@pytest.mark.parametrize(
    ("description", "tier"),
    [
        ("Returns the balance of an account.", Tier.READ),
        ("Queries the ledger.", Tier.READ),
        ("Get the balance", Tier.READ),
        ("Fetches the page. Then sends nothing.", Tier.READ),
        ("This tool sends a parcel", Tier.EXTERNAL),
        ("Wipes the disk.", Tier.DESTRUCTIVE),
        ("A thing for the ledger.", Tier.WRITE),
        ("The ledger. Returns nothing.", Tier.WRITE),
        ("Void a track bulletin by its number.", Tier.WRITE),
        ("Takes an entry off the list.", Tier.WRITE),
        ("Let a person view the ledger.", Tier.WRITE),
        ("An overview that lists entries.", Tier.READ),
        ("Overview that lists entries.", Tier.READ),
        ("Send a mail to a user.", Tier.EXTERNAL),  # nouns count only in names
        ("Check out the cart.", Tier.FINANCIAL),
        ("Ledger with all of the lines it deletes.", Tier.DESTRUCTIVE),
        ("A ledger with all of the lines it deletes.", Tier.WRITE),  # the ninth word
        ("", Tier.WRITE),
    ],
)
def test_without_a_verb_in_the_name_the_description_decides(description: str, tier: Tier) -> None:
    assert infer(ToolSpec(name="ledger", description=description)) is tier


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("wiki_page", "A page of the handbook."),
        ("stock_level", "Stock of a material."),
        ("inbox", "Latest mails with a label."),
        ("pump_log", "Entries of the pump since a day"),
        ("board_post", "Text of a post, with its answers"),
        ("rota", "Who is on duty."),
        ("orders.get", "One order with its thread."),
    ],
)
def test_a_tool_that_tells_what_there_is_reads(name: str, description: str) -> None:
    assert infer(ToolSpec(name=name, description=description)) is Tier.READ


@pytest.mark.parametrize(
    ("name", "description", "tier"),
    [
        ("tray", "Payment of a bill.", Tier.WRITE),
        ("tray", "Transfer of a balance.", Tier.FINANCIAL),
        ("tray", "A message to a colleague.", Tier.EXTERNAL),
        ("tray", "A message of thanks to a colleague.", Tier.EXTERNAL),
        ("tray", "Current.", Tier.WRITE),
        ("bot", "The bot posts with a signature.", Tier.EXTERNAL),
        ("tray", "The tray of the manager", Tier.WRITE),
        ("mailer", "A helper that sends the mails of a day.", Tier.EXTERNAL),
        ("shredder", "The papers of a day that it deletes.", Tier.DESTRUCTIVE),
        ("extra", "Añade una noche de hotel.", Tier.WRITE),
        ("send_note", "Text of a note.", Tier.EXTERNAL),
        ("note_send", "Text of a note.", Tier.EXTERNAL),
        ("bank_transfer", "Latest transfers of a month.", Tier.FINANCIAL),
    ],
)
def test_words_about_a_noun_do_not_hide_an_action(name: str, description: str, tier: Tier) -> None:
    assert infer(ToolSpec(name=name, description=description)) is tier


@pytest.mark.parametrize(
    ("name", "annotations", "tier"),
    [
        ("frobnicate", ToolAnnotations(read_only=True), Tier.READ),
        ("get_page", ToolAnnotations(read_only=False), Tier.WRITE),
        ("get_page", ToolAnnotations(open_world=True), Tier.EXTERNAL),
        ("update_row", ToolAnnotations(destructive=True), Tier.DESTRUCTIVE),
        ("get_page", ToolAnnotations(read_only=True, destructive=True), Tier.READ),
        ("create_note", ToolAnnotations(read_only=True), Tier.WRITE),
    ],
)
def test_annotations_can_change_the_tier(
    name: str, annotations: ToolAnnotations, tier: Tier
) -> None:
    assert infer(ToolSpec(name=name, annotations=annotations)) is tier


@pytest.mark.parametrize(
    ("name", "description", "tier"),
    [
        ("list_add", "Add a subscriber.", Tier.WRITE),
        ("list_add", "Adds the line to a shared list.", Tier.WRITE),
        ("show_cancel", "Cancel a show and tell everybody.", Tier.WRITE),
        ("ping_everybody", "Send a message to the whole staff.", Tier.EXTERNAL),
        ("list_add", "", Tier.WRITE),  # the last word counts, too
        ("get_file", "Open a file.", Tier.READ),
        ("query", "Run a SELECT.", Tier.READ),
        ("get_plot", "Generate a plot for a story.", Tier.READ),
        ("list_comments", "Comments on a file.", Tier.READ),
        ("find_contact", "Contact directory of the practice.", Tier.READ),
        ("show_orders", "All orders of a month.", Tier.READ),
    ],
)
def test_a_description_that_begins_with_an_action_is_believed(
    name: str, description: str, tier: Tier
) -> None:
    assert infer(ToolSpec(name=name, description=description)) is tier


def test_a_description_that_admits_to_something_grave_is_believed() -> None:
    for description in ("Deletes every file.", "Pays the bill", "Shares the folder"):
        assert infer(ToolSpec(name="lookup", description=description)).side_effects
    sending = ToolSpec(name="send_mail", description="Send a mail to a user or a member")
    assert infer(sending) is Tier.EXTERNAL
    harmless = infer(ToolSpec(name="lookup", description="Opens the page and returns its text"))
    assert harmless is Tier.READ


@pytest.mark.parametrize("parameter", ["sql", "command", "shellScript"])
def test_a_tool_that_takes_a_command_can_do_anything(parameter: str) -> None:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}}
    assert infer(ToolSpec(name="query_database", parameters=schema)) is Tier.DESTRUCTIVE


@pytest.mark.parametrize("name", ["send_money", "delete_all", "share_file", "write_file"])
def test_an_annotation_cannot_talk_a_dangerous_name_down(name: str) -> None:
    honest = infer(ToolSpec(name=name))
    lying = infer(ToolSpec(name=name, annotations=ToolAnnotations(read_only=True)))
    assert lying is honest


def test_a_description_cannot_talk_a_dangerous_name_down() -> None:
    spec = ToolSpec(name="delete_event", description="Returns the events of a day.")
    assert infer(spec) is Tier.DESTRUCTIVE


@pytest.mark.parametrize("name", ["send_money", "share_file"])
@pytest.mark.parametrize(
    "annotations",
    [
        ToolAnnotations(read_only=False),
        ToolAnnotations(destructive=True),
        ToolAnnotations(open_world=True),
    ],
)
def test_an_annotation_of_a_lesser_harm_does_not_lower_the_tier(
    name: str, annotations: ToolAnnotations
) -> None:
    assert infer(ToolSpec(name=name, annotations=annotations)) is infer(ToolSpec(name=name))


@pytest.mark.parametrize(
    "parameters", [{"type": "object", "properties": {"url": {}}}, {"pageUrl": "string"}]
)
def test_a_reader_that_takes_an_address_reaches_outside(parameters: dict[str, object]) -> None:
    assert infer(ToolSpec(name="get_page", parameters=parameters)) is Tier.EXTERNAL


def test_an_undeclared_tool_always_has_side_effects() -> None:
    assert tier_of("get_weather", {}, Policy()) is Tier.WRITE
    assert tier_of("send_money", {}, Policy()) is Tier.FINANCIAL


def test_a_declared_tool_is_inferred_and_settings_override_everything() -> None:
    tools = {"get_weather": ToolSpec(name="get_weather")}
    assert tier_of("get_weather", tools, Policy()) is Tier.READ
    strict = Policy(tiers={"get_weather": Tier.ACCESS, "other": Tier.READ})
    assert tier_of("get_weather", tools, strict) is Tier.ACCESS
    assert tier_of("other", tools, strict) is Tier.READ


def test_the_name_of_an_mcp_server_says_nothing_about_its_tools() -> None:
    deletes, reads = "mcp__search__delete_all", "mcp__delete_helper__get_page"
    assert tier_of(deletes, {}, Policy()) is Tier.DESTRUCTIVE
    assert infer(ToolSpec(name=deletes)) is Tier.DESTRUCTIVE
    assert infer(ToolSpec(name=reads)) is Tier.READ


@pytest.mark.parametrize("name", ["delete__all__get_page", "mcp__files__delete__get_page"])
def test_all_of_a_name_counts_but_its_mcp_server(name: str) -> None:
    assert infer(ToolSpec(name=name)) is Tier.DESTRUCTIVE


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("email.search_emails", Tier.READ),
        ("search/delete_index", Tier.DESTRUCTIVE),
        ("files:get", Tier.READ),
        ("email.client", Tier.EXTERNAL),
    ],
)
def test_a_namespace_says_something_only_where_the_name_says_nothing(name: str, tier: Tier) -> None:
    assert infer(ToolSpec(name=name)) is tier
