"""What is taken for a secret, and what is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.stores.secrets.patterns import name_kind, secrets
from taskshield.stores.secrets.redaction import redacted

# Made up, and put together here, so that no scanner of repositories takes them for real.
RANDOM = "a1B2c3D4e5F6g7H8i9J0" * 3
SHAPES = [
    f"sk-{RANDOM}",
    f"sk-proj-{RANDOM}",
    f"sk-ant-api03-{RANDOM}",
    f"sk_live_{RANDOM}",
    f"ghp_{RANDOM}",
    f"github_pat_{RANDOM}",
    f"glpat-{RANDOM}",
    f"xoxb-{RANDOM}",
    f"AIza{RANDOM[:35]}",
    f"ya29.{RANDOM}",
    "AKIA" + "ABCDEFGH" * 2,
    f"hf_{RANDOM}",
    f"gsk_{RANDOM}",
    f"npm_{RANDOM}",
    f"pypi-{RANDOM}",
    f"SG.{RANDOM}.{RANDOM}",
    f"eyJ{RANDOM}.eyJ{RANDOM}.{RANDOM}",
    f"-----BEGIN PRIVATE KEY-----\n{RANDOM}\n-----END PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{RANDOM}\n-----END OPENSSH PRIVATE KEY-----",
    f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{RANDOM}",
]


@pytest.mark.parametrize("secret", SHAPES)
@pytest.mark.parametrize("around", ["{}", "use {} please", "'{}'", "x={}", "({}), "])
def test_keys_are_known_by_their_shape(secret: str, around: str) -> None:
    if "PRIVATE KEY" in secret and "END" not in secret:
        around = "{}"  # a key that was cut off goes on to the end
    assert redacted(around.format(secret)) == around.format("[secret]")


NAMED = [
    ("password=hunter2", "password=[secret]"),
    ("PASSWORD = 'correct horse'", "PASSWORD = '[secret]'"),
    ("Password: hunter2", "Password: [secret]"),
    ("password: swordfish\nuser: bob", "password: [secret]\nuser: bob"),
    ("The password is hunter2", "The password is [secret]"),
    ("db_passwd=a:b@c", "db_passwd=[secret]"),
    ("PGPASSWORD=x1 psql", "PGPASSWORD=[secret] psql"),
    ("AWS_SECRET_ACCESS_KEY=abc/def+ghi", "AWS_SECRET_ACCESS_KEY=[secret]"),
    ("My API key: 12ab", "My API key: [secret]"),
    ("apiKey=12ab&user=bob", "apiKey=[secret]&user=bob"),
    ("X-Api-Key: 12ab", "X-Api-Key: [secret]"),
    ("AccountKey=abc==;Endpoint=x", "AccountKey=[secret];Endpoint=x"),
    ("Authorization: Basic dXNlcg==", "Authorization: Basic [secret]"),
    ("curl -H 'Authorization: Bearer abc'", "curl -H 'Authorization: Bearer [secret]'"),
    ("?access_token=abc&x=1", "?access_token=[secret]&x=1"),
    (f"Bearer {RANDOM}", "Bearer [secret]"),
    (f"token: {RANDOM}", "token: [secret]"),
    ("client_secret => 'ab\\'cd' end", "client_secret => '[secret]' end"),
    ("postgresql://bob:hunter2@host/db", "postgresql://bob:[secret]@host/db"),
    ("redis://:p@ss@host:1", "redis://:[secret]@host:1"),
    ("{password: 'x'", "{password: '[secret]'"),
    ('{\\"password\\": \\"hunter2\\"', '{\\"password\\": \\"[secret]\\"'),
    ("<İstanbul> password=hunter2", "<İstanbul> password=[secret]"),
]


@pytest.mark.parametrize(("text", "expected"), NAMED)
def test_values_are_known_by_their_names(text: str, expected: str) -> None:
    assert redacted(text) == expected


HARMLESS = [
    "",
    "Reset my password",
    "password: must be at least 8 characters",
    "The password is wrong. Is the password required?",
    "password=None, secret=null, api_key=${API_KEY}, token=$TOKEN",
    "password: ********",
    "password = input('Password: ')",
    "secret = os.environ['SECRET']",
    "secretary: John Smith",
    "monkey: banana; keyboard: qwerty",
    "primary key: user_id_1234567890abcdef",
    "key: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "max_tokens: 4096, tokens=12345678",
    "next_page_token: CAUQAAabcdef1234567890",
    "token: 42",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "call_a1B2c3D4e5F6g7H8i9J0k1L2",
    "IBAN DE89 3704 0044 0532 0130 00, or DE89370400440532013000",
    "4111 1111 1111 1111",
    "https://example.com:8080/path@v2?x=1",
    "git@github.com:owner/name.git",
    "mailto:bob@example.com",
    "basic understanding of bearer responsibilities",
    "Basic 2024-2025 plan",
    "scikit-learn sk-learn-compatible-estimators-and-more",
    "risk-assessment-for-2024-and-beyond-in-full",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "eyJ is how base64 of JSON begins",
    "2026-01-01T00:00:00Z price=12.50 qty=3",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redacted(text) == text
    assert redacted(json.dumps({"note": text})) == json.dumps({"note": text})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", "secret"),
        ("dbPassword2", "secret"),
        ("X-API-Key", "secret"),
        ("refresh_token", "secret"),
        ("token", "doubtful"),
        ("deploy_token", "doubtful"),
        ("pageToken", None),
        ("public_key", None),
        ("key", None),
        ("password_length", None),
        ("", None),
        ("42", None),
    ],
)
def test_names(name: str, kind: str | None) -> None:
    assert name_kind(name) == kind


PIECES = st.sampled_from(
    ["password", "token", " is ", "=", ":", "'", '"', "\\", "eyJ", ".", "sk-", "://", "@", "-----"]
    + ["BEGIN PRIVATE KEY-----", "Bearer ", "\n", " ", "a1", "İ", "ﬁ", "\ud800", RANDOM]
)


@given(st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join))
def test_places_are_in_order_and_within_the_text(text: str) -> None:
    end = 0
    for place in secrets(text):
        assert end <= place.start < place.end <= len(text)
        end = place.end


@given(st.lists(PIECES | st.text(max_size=4), max_size=30).map("".join))
def test_no_secret_of_a_known_shape_is_left_anywhere(text: str) -> None:
    assert f"ghp_{RANDOM}" not in redacted(f"{text} ghp_{RANDOM} {text}")


@pytest.mark.parametrize(
    "piece",
    ["eyJ", "eyJaaaaaaaaaaaa.", "password=", "password='", "token:", "key is ", "sk-", "://a:", "a"]
    + ["-----BEGIN PRIVATE KEY-----", "bearer ", "\\", '"', "[", '{"', "SG.", "- ", "password \t"],
)
def test_a_long_text_that_nearly_matches_takes_no_longer_than_others(piece: str) -> None:
    # Were a pattern quadratic, each of these would take minutes or hours.
    redacted(piece * (100_000 // len(piece)))
