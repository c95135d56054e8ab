"""Holds the vectors against Python's own HMAC: python3 verify.py vectors.json"""
import base64, hashlib, hmac, json, sys


def sign(key, text):
    return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


for v in json.load(open(sys.argv[1], encoding="utf-8")):
    body, standard = v["body"].encode(), v["standard"]
    signed = "{webhook_id}.{webhook_timestamp}.".format(**standard).encode() + body
    signatures = []
    for by in filter(None, [v, v.get("previous")]):
        secret = by["secret"].encode()
        if sign(secret, body) != by["signature"]:
            sys.exit("signature of " + v["name"])
        signatures.append("v1," + sign(base64.b64decode(secret[len("whsec_"):]), signed))
    if " ".join(signatures) != standard["webhook_signature"]:
        sys.exit("Standard Webhooks signature of " + v["name"])
    print(v["name"].encode())
