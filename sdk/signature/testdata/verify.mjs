// Holds the vectors against Node's own HMAC: node verify.mjs vectors.json
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

const sign = (key, text) => createHmac("sha256", key).update(text, "utf8").digest("base64");

for (const v of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const { webhook_id, webhook_timestamp, webhook_signature } = v.standard;
  const signatures = [v, v.previous].filter(Boolean).map(({ secret, signature }) => {
    if (sign(secret, v.body) !== signature) throw new Error("signature of " + v.name);
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    return "v1," + sign(key, `${webhook_id}.${webhook_timestamp}.${v.body}`);
  });
  if (signatures.join(" ") !== webhook_signature) throw new Error("Standard Webhooks signature of " + v.name);
  console.log(v.name);
}
