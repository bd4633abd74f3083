"""Projects, members, keys, the audit log."""

from apps.accounts.models import ApiKey
from tests.api.callers import Caller, signed_in, with_key
from tests.cast import Cast


def test_who_makes_a_project_is_its_admin(cast: Cast) -> None:
    caller = signed_in(cast.outsider)
    made = caller.post("projects/", {"slug": "gamma", "name": "Gamma"})
    assert made.status == 201
    assert made.json["name"] == "Gamma"
    read = caller.get("projects/gamma/").json
    assert "administer" in read["rights"]
    members = caller.get("projects/gamma/members/").json["items"]
    assert [(each["username"], each["role"]) for each in members] == [("outsider", "admin")]


def test_a_taken_or_impossible_name_is_refused(cast: Cast) -> None:
    caller = signed_in(cast.owner)
    assert caller.post("projects/", {"slug": "alpha"}).problem["place"] == "slug"
    assert caller.post("projects/", {"slug": "beta"}).status == 409
    for slug in ("Upper", "with space", "-", "", "x" * 65):
        heard = caller.post("projects/", {"slug": slug})
        assert heard.status == 422
        assert heard.problem["place"] == "slug"


def test_a_list_of_projects_holds_those_one_may_read(cast: Cast) -> None:
    def listed(caller: Caller) -> list[str]:
        return [each["slug"] for each in caller.get("projects/").json["items"]]

    assert listed(signed_in(cast.viewer)) == ["alpha"]
    assert listed(signed_in(cast.outsider)) == ["beta"]
    assert listed(with_key(cast.read_key.secret)) == ["alpha"]
    assert listed(with_key(cast.harness_key.secret)) == []


def test_lists_are_walked_by_cursor(cast: Cast) -> None:
    caller = signed_in(cast.owner)
    for number in range(7):
        caller.post("projects/", {"slug": f"p{number}", "name": "Same name" if number % 2 else "Z"})
    whole = [each["slug"] for each in caller.get("projects/").json["items"]]
    assert len(whole) == 8
    walked: list[str] = []
    after = ""
    while True:
        page = caller.get(f"projects/?limit=3&after={after}").json
        assert len(page["items"]) <= 3
        walked += [each["slug"] for each in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert walked == whole


def test_members_come_change_and_go(alpha: Caller) -> None:
    assert alpha.put("members/outsider/", {"role": "viewer"}).json["role"] == "viewer"
    assert alpha.put("members/outsider/", {"role": "author"}).json["role"] == "author"
    listed = {each["username"]: each["role"] for each in alpha.get("members/").json["items"]}
    assert listed["outsider"] == "author"
    assert alpha.delete("members/outsider/").status == 204
    assert alpha.delete("members/outsider/").status == 422
    assert alpha.put("members/nobody-knows/", {"role": "viewer"}).problem["place"] == "username"
    assert alpha.put("members/outsider/", {"role": "king"}).problem["place"] == "role"


def test_the_only_admin_stays(alpha: Caller) -> None:
    assert alpha.delete("members/owner/").status == 422
    assert alpha.put("members/owner/", {"role": "viewer"}).status == 422


def test_the_text_of_a_key_is_shown_once(alpha: Caller) -> None:
    made = alpha.post("keys/", {"name": "ci", "scopes": ["read", "write"]})
    assert made.status == 201
    secret = made.json["key"]
    assert with_key(secret).get("me/").json["scopes"] == ["read", "write"]
    listed = alpha.get("keys/")
    assert secret.encode() not in listed.body
    newest = listed.json["items"][0]
    assert newest == {k: v for k, v in made.json.items() if k != "key"} | {
        "last_used_at": newest["last_used_at"]
    }


def test_a_key_revoked_over_the_api_opens_nothing_more(alpha: Caller) -> None:
    made = alpha.post("keys/", {"name": "brief", "expires_at": "2100-01-01T00:00:00+02:00"}).json
    assert alpha.get("keys/").json["items"][0]["expires_at"] == "2099-12-31T22:00:00Z"
    assert alpha.delete(f"keys/{made['id']}/").status == 204
    assert with_key(made["key"]).get("me/").status == 401
    assert alpha.delete(f"keys/{made['id']}/").status == 204


def test_a_key_of_another_project_is_no_key_here(alpha: Caller, cast: Cast) -> None:
    assert alpha.delete(f"keys/{cast.foreign_key.row.pk}/").status == 404
    assert ApiKey.objects.get(pk=cast.foreign_key.row.pk).revoked_at is None


def test_a_key_makes_no_project(api: Caller) -> None:
    assert api.post("projects/", {"slug": "gamma"}).status == 403


def test_the_audit_log_tells_who_did_what_and_no_secret(alpha: Caller) -> None:
    made = alpha.post("keys/", {"name": "ci"}).json
    log = alpha.get("audit/?limit=1")
    entry = log.json["items"][0]
    assert (entry["action"], entry["subject"], entry["actor"]) == ("key.create", "ci", "key admin")
    assert made["key"].encode() not in alpha.get("audit/").body
