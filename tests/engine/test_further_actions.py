"""A tool that begins with a verb for reading may do more: the gravest action counts."""

import pytest

from taskshield.core.policy import Policy
from taskshield.core.tools import Tier, ToolSpec
from taskshield.engine.risk_tiers import infer, tier_of


@pytest.mark.parametrize(
    ("description", "tier"),
    [
        ("Check and delete old records", Tier.DESTRUCTIVE),
        ("Review and correct refund processes", Tier.WRITE),
        ("Reviews and corrects refund processes", Tier.WRITE),
        ("Look up and void an invoice", Tier.DESTRUCTIVE),
        ("List files, then remove duplicates.", Tier.DESTRUCTIVE),
        ("Checks the ledger and voids old entries", Tier.DESTRUCTIVE),
        ("View or edit a user", Tier.WRITE),
        ("Search mails and optionally forward them", Tier.EXTERNAL),
        ("Check old records. Expired ones are deleted.", Tier.DESTRUCTIVE),
        ("Check old records. Expired ones are then deleted.", Tier.DESTRUCTIVE),
        ("Check old records. Deletes those that expired.", Tier.DESTRUCTIVE),
        ("Get data. Also sends a copy to the vendor.", Tier.EXTERNAL),
        ("Get data. A copy is sent.", Tier.EXTERNAL),
        ("Reads mail, deleting it afterwards", Tier.DESTRUCTIVE),
        ("Read mail while deleting it", Tier.DESTRUCTIVE),
        ("Find and fix vulnerabilities", Tier.WRITE),
        ("Inspect & frobnicate the cache", Tier.WRITE),
        ("Monitor and auto-terminate idle instances", Tier.DESTRUCTIVE),
        ("Retrieve and permanently erase messages", Tier.DESTRUCTIVE),
        ("Show the balance and transfer the rest to savings", Tier.FINANCIAL),
        ("Show the balance and can transfer money", Tier.FINANCIAL),
        ("Used to view and reset passwords", Tier.DESTRUCTIVE),
        ("Reads a file. Can be used to delete files", Tier.DESTRUCTIVE),
        ("Check whether records are old and delete them", Tier.DESTRUCTIVE),
        ("Evaluate a claim and, if valid, pay it", Tier.FINANCIAL),
        ("Scan for and quarantine infected files", Tier.WRITE),
        ("Verify, approve and pay invoices", Tier.ACCESS),
        ("Tracks and re-routes parcels", Tier.WRITE),
        ("Prüft und löscht alte Einträge", Tier.DESTRUCTIVE),
        ("Filter löschen", Tier.DESTRUCTIVE),
        ("查询并删除记录", Tier.WRITE),
        ("Examine accounts - close dormant ones", Tier.WRITE),
        ("Review tickets \u2013 archive stale ones", Tier.WRITE),
        ("Check records -- delete old ones", Tier.DESTRUCTIVE),
        ("Inspect sessions \u2192 terminate idle ones", Tier.DESTRUCTIVE),
        ("Finds duplicates (deletes them)", Tier.DESTRUCTIVE),
        ("Looks at orders/cancels late ones", Tier.WRITE),
        ("Fetches rates then buys at best price", Tier.FINANCIAL),
    ],
)
def test_the_gravest_action_of_a_description_counts(description: str, tier: Tier) -> None:
    assert infer(ToolSpec(name="records", description=description)) is tier


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("status_aendern", Tier.WRITE),
        ("statusÄndern", Tier.WRITE),
        ("status_a\u0308ndern", Tier.WRITE),
        ("check_löschen", Tier.DESTRUCTIVE),
        ("liste_rechnung_bezahlen", Tier.FINANCIAL),
        ("benutzer_sperren", Tier.ACCESS),
        ("test_envoyer", Tier.EXTERNAL),
        ("eliminar_usuario", Tier.DESTRUCTIVE),
        ("invia_email", Tier.EXTERNAL),
    ],
)
def test_verbs_of_other_languages_raise_a_tier(name: str, tier: Tier) -> None:
    assert infer(ToolSpec(name=name)) is tier
    assert tier_of(name, {}, Policy()) is tier


@pytest.mark.parametrize(
    "description",
    [
        "Lists closed tickets",
        "Shows deleted files",
        "Gets the send log",
        "Get orders. Order number required.",
        "Search notes - text search only",
        "Lists tickets - open ones first",
        "Shows sent mail; newest first",
        "View report - summary or complete list of blocked users",
        "Find accounts that were closed - including deleted ones",
        "Returns a -",
    ],
)
def test_what_only_describes_stays_a_read(description: str) -> None:
    assert infer(ToolSpec(name="records", description=description)) is Tier.READ


@pytest.mark.parametrize(
    "description",
    [
        "Returns the name and address of a customer.",
        "Search notes, orders and transfers by text",
        "Gets the status, and the history",
        "Status and history of an order",
        "Scans and messages for a consignment",
        "List messages and calls",
        "Show",
        "Show and",
        "Show the update history and change log",
        "Read a file before you delete it.",
        "Find files that can be deleted",
        "Workbooks the user can open",
        "Lists users who can delete a file",
        "Returns what is paid",
        "Network is allowed. Access is denied.",
        "Look at logs. Does not delete or change anything.",
        "Fetch the page. Sends nothing.",
        "Search and filter documents",
        "Count sent and received messages",
        "Get events, including cancelled ones",
        "Get the list to delete",
        "Results are sorted by price.",
    ],
)
def test_words_that_are_no_actions_of_the_tool_leave_it_a_read_tool(description: str) -> None:
    assert infer(ToolSpec(name="get_records", description=description)) is Tier.READ


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("review_and_correct", Tier.WRITE),
        ("check_and_frobnicate", Tier.WRITE),
        ("list_and_count", Tier.READ),
        ("scan_delete", Tier.DESTRUCTIVE),
        ("list_transfer", Tier.READ),
        ("list_name_and_address", Tier.READ),
        ("show_and", Tier.READ),
    ],
)
def test_the_gravest_action_of_a_name_counts(name: str, tier: Tier) -> None:
    assert infer(ToolSpec(name=name)) is tier


@pytest.mark.parametrize(
    ("properties", "tier"),
    [
        ({"action": {"enum": ["list", "delete"]}}, Tier.DESTRUCTIVE),
        ({"http_method": {"enum": ["get", "post"]}}, Tier.EXTERNAL),
        ({"operation": {"enum": ["list", 7, ""]}}, Tier.READ),
        ({"operation": {"type": "string"}}, Tier.READ),
        ({"order": {"enum": ["post", "delete"]}}, Tier.READ),
        ({"delete_after": {"type": "boolean"}}, Tier.DESTRUCTIVE),
        ({"send_date": {"type": "boolean"}}, Tier.READ),
        ({"delete_date": {"type": "string"}}, Tier.READ),
        ({"action": "delete", "7": {"type": "boolean"}, "": {"type": "boolean"}}, Tier.READ),
    ],
)
def test_the_gravest_choice_of_a_schema_counts(properties: dict[str, object], tier: Tier) -> None:
    spec = ToolSpec(name="get_records", parameters={"properties": properties})
    assert infer(spec) is tier
