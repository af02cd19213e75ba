"""Values of a profile in Python: what is sure enough, or else a default. usage: read_profile.py FILE [KEY...]"""
import json
import sys

RANKS = {"low": 1, "medium": 2, "high": 3}


def read_value(profile, key, default=None, least="medium"):
    """The value of the key, if it is ok and of at least that confidence."""
    answer = profile["characteristics"].get(key, {})
    sure = answer.get("status") == "ok" and RANKS.get(answer.get("confidence"), 1) >= RANKS[least]
    return answer["value"] if sure else default


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        profile = json.load(file)
    for key in sys.argv[2:] or sorted(profile["characteristics"]):
        print(key, json.dumps(read_value(profile, key)))
