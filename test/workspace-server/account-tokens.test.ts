// Service account tokens: their claims, the user they authenticate, and all the ways to be invalid.
import { createPublicKey, verify } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { run } from "../../tools/run.mjs";
import { expectFault } from "../_setup/faults.ts";
import { tree } from "../_setup/tree.ts";
import { type Json, type Signing, signed, signingKey } from "../_support/issuer.ts";
import { AccountServer, EC, KEYS, pemOf, RSA } from "./support/accounts.ts";

type Claims = Record<string, unknown>;

const partOf = (token: string, at: number): Claims =>
  JSON.parse(Buffer.from(token.split(".")[at] ?? "", "base64url").toString());

/** Signs the token again with other claims or another header. */
function altered(
  token: string,
  { header = {}, claims = {} }: { header?: Json; claims?: Json },
  signing?: Signing,
): string {
  const how = signing ?? { key: RSA.privateKey, alg: "RS256" };
  return signed({ ...partOf(token, 0), ...header }, { ...partOf(token, 1), ...claims }, how);
}

describe("service account tokens", () => {
  let server: AccountServer;
  beforeEach(async () => {
    server = await AccountServer.start();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("contain the account, its logical cluster and the expiration", async () => {
    const uid = server.account().metadata.uid;
    const token = await server.token();
    const [header, claims] = [partOf(token, 0), partOf(token, 1)];
    expect(header).to.deep.equal({ alg: "RS256", kid: KEYS.signing.kid });
    const { exp, iat, nbf, jti, ...rest } = claims;
    expect(rest).to.deep.equal({
      iss: "https://kcp.default.svc",
      aud: ["https://kcp.default.svc"],
      sub: "system:serviceaccount:default:builder",
      "kubernetes.io": { clusterName: "one", namespace: "default", serviceaccount: { name: "builder", uid } },
    });
    expect([nbf, Number(exp) - Number(iat)]).to.deep.equal([iat, 3600]);
    expect(await server.ask(token)).to.deep.equal({
      name: "system:serviceaccount:default:builder",
      uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      extra: {
        "authentication.kcp.io/cluster-name": ["one"],
        "authentication.kcp.io/scopes": ["cluster:one"],
        "authentication.kubernetes.io/credential-id": [`JTI=${jti}`],
      },
    });
  });

  it("have RSA signatures that Node.js and OpenSSL verify", async function () {
    const token = await server.token();
    const [head = "", body = "", signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    expect(verify("sha256", Buffer.from(`${head}.${body}`), RSA.publicKey, bytes)).to.equal(true);
    if (!(await run("openssl", ["version"])).ok) this.skip();
    using folder = tree({ signed: `${head}.${body}`, "key.pem": pemOf(RSA.publicKey, "spki") });
    const file = (name: string): string => join(folder.path, name);
    writeFileSync(file("signature"), bytes);
    const args = ["dgst", "-sha256", "-verify", file("key.pem"), "-signature", file("signature"), file("signed")];
    expect(await run("openssl", args)).to.deep.equal({ ok: true, output: "Verified OK" });
  });

  it("use ES256 with a P-256 key", async () => {
    const keys = new ServiceAccountKeys({ signing: pemOf(EC.privateKey, "pkcs8") });
    await using other = await AccountServer.start({ keys });
    const token = await other.token();
    const [head, body, signature = ""] = token.split(".");
    const key = { key: EC.publicKey, dsaEncoding: "ieee-p1363" } as const;
    const bytes = Buffer.from(signature, "base64url");
    expect([partOf(token, 0)["alg"], verify("sha256", Buffer.from(`${head}.${body}`), key, bytes)]).to.deep.equal([
      "ES256",
      true,
    ]);
    expect((await other.ask(token))?.name).to.equal("system:serviceaccount:default:builder");
    expect(await server.ask(token), "by a server with other keys").to.equal(undefined);
  });

  it("stay valid after a key change while the server has the previous key", async () => {
    const token = await server.token();
    const signing = pemOf(EC.privateKey, "pkcs8");
    const both = new ServiceAccountKeys({
      signing,
      verification: [pemOf(signingKey().publicKey, "spki") + pemOf(RSA.publicKey, "spki")],
    });
    for (const [keys, known] of [
      [both, true],
      [new ServiceAccountKeys({ signing }), false],
    ] as const) {
      await using other = await AccountServer.start({ keys });
      const { uid } = other.account().metadata;
      const own = altered(token, {
        claims: {
          "kubernetes.io": { ...(partOf(token, 1)["kubernetes.io"] as Json), serviceaccount: { name: "builder", uid } },
        },
      });
      expect((await other.ask(own)) !== undefined).to.equal(known);
    }
  });

  it("are rejected after expiration, with one minute of clock skew", async () => {
    const token = await server.token();
    server.ahead = (3600 + 50) * 1000;
    expect(await server.ask(token)).not.to.equal(undefined);
    server.ahead = (3600 + 62) * 1000;
    expect(await server.ask(token)).to.equal(undefined);
    expect((await server.review(token))["error"]).to.equal("[invalid bearer token, service account token has expired]");
    server.ahead = -70_000;
    expect((await server.review(token))["error"]).to.equal(
      "[invalid bearer token, service account token is not valid yet]",
    );
  });

  it("are rejected for another audience", async () => {
    const account = server.account();
    const { token } = await server.minter.bound({ cluster: "one", account, audiences: ["vault"], seconds: 3600 });
    expect(await server.ask(token)).to.equal(undefined);
    expect((await server.review(token))["error"]).to.equal(
      '[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["https://kcp.default.svc"]]',
    );
    expect(await server.review(token, ["other", "vault"])).to.deep.include({
      authenticated: true,
      audiences: ["vault"],
    });
  });

  it("are rejected once the account is deleted, even after earlier use, and stay so when its name is reused", async () => {
    const token = await server.token();
    const { uid } = server.account().metadata;
    for (let at = 0; at < 3; at++) expect((await server.ask(token))?.uid).to.equal(uid);
    server.accounts.in("one", "default").delete("builder");
    expect(await server.ask(token)).to.equal(undefined);
    expect((await server.review(token))["error"]).to.equal(
      '[invalid bearer token, serviceaccounts "builder" not found]',
    );
    const next = server.account().metadata.uid;
    expect(await server.ask(token)).to.equal(undefined);
    expect((await server.review(token))["error"]).to.equal(
      `[invalid bearer token, service account UID (${next}) does not match claim (${uid})]`,
    );
  });

  it("are rejected one minute after the account's deletion if a finalizer still keeps it", async () => {
    server.accounts.in("one", "default").set("builder", {}, { finalizers: ["test.dev/hold"] });
    const token = await server.token();
    server.accounts.in("one", "default").set("builder", {}, { finalizers: ["test.dev/hold"] });
    server.accounts.in("one", "default").delete("builder");
    expect(await server.ask(token)).not.to.equal(undefined);
    server.ahead = 62_000;
    expect((await server.review(token))["error"]).to.equal(
      "[invalid bearer token, service account default/builder has been deleted]",
    );
  });

  it("belong to the logical cluster they name, not to an account of that name elsewhere", async () => {
    const token = await server.token("one");
    server.account("two");
    server.accounts.in("one", "default").delete("builder");
    expect(await server.ask(token)).to.equal(undefined);
    const foreign = await server.token("three");
    expect((await server.ask(foreign))?.extra["authentication.kcp.io/cluster-name"]).to.deep.equal(["three"]);
  });

  it("are rejected if altered or signed by someone else", async () => {
    const token = await server.token();
    const { uid } = server.account("two").metadata;
    const two = {
      "kubernetes.io": { clusterName: "two", namespace: "default", serviceaccount: { name: "builder", uid } },
    };
    const [head, , signature] = token.split(".");
    const swapped = `${head}.${altered(token, { claims: two }).split(".")[1]}.${signature}`;
    const stranger = signingKey("rsa");
    const cases = {
      "other claims under the signature": swapped,
      "another's key, by the id of ours": altered(token, {}, { key: stranger.privateKey, alg: "RS256" }),
      "another's key, without an id": altered(
        token,
        { header: { kid: undefined } },
        { key: stranger.privateKey, alg: "RS256" },
      ),
      "a key that it brings along": altered(
        token,
        { header: { kid: undefined, jwk: stranger.publicKey.export({ format: "jwk" }) } },
        { key: stranger.privateKey, alg: "RS256" },
      ),
      "no signature": `${head}.${token.split(".")[1]}.`,
      "alg none": altered(token, { header: { alg: "none" } }, { key: RSA.privateKey, alg: "none" }),
      "alg none with a signature": altered(token, { header: { alg: "none" } }, { key: RSA.privateKey, alg: "RS256" }),
      "the public key as a secret": altered(
        token,
        { header: { alg: "HS256" } },
        { key: pemOf(RSA.publicKey, "spki"), alg: "HS256" },
      ),
      "our key by another algorithm": altered(
        token,
        { header: { alg: "PS256" } },
        { key: RSA.privateKey, alg: "PS256" },
      ),
      "our key by a longer hash": altered(token, { header: { alg: "RS512" } }, { key: RSA.privateKey, alg: "RS512" }),
      "an elliptic key for an RSA one": altered(
        token,
        { header: { alg: "ES256" } },
        { key: EC.privateKey, alg: "ES256" },
      ),
      "critical extensions": altered(token, { header: { crit: ["exp"] } }),
      "a claim twice": signed(partOf(token, 0), JSON.stringify(partOf(token, 1)).replace("{", '{"sub":"x",'), {
        key: RSA.privateKey,
        alg: "RS256",
      }),
    };
    expect(await server.ask(altered(token, {})), "as it was").not.to.equal(undefined);
    for (const [what, bad] of Object.entries(cases)) {
      expect(await server.ask(bad), what).to.equal(undefined);
      expect(await server.review(bad), what).not.to.have.property("authenticated");
    }
  });

  it("are rejected if a claim is missing or contradictory, despite a valid signature", async () => {
    const token = await server.token();
    const own = partOf(token, 1)["kubernetes.io"] as Json;
    const wrong: Json[] = [
      { exp: undefined },
      { nbf: "0" },
      { aud: 1 },
      { sub: "system:serviceaccount:default:admin" },
      { iss: "https://elsewhere.test" },
      { "kubernetes.io": undefined },
      { "kubernetes.io": { ...own, clusterName: undefined } },
      { "kubernetes.io": { ...own, clusterName: "../one" } },
      { "kubernetes.io": { ...own, serviceaccount: { name: "builder" } } },
      { "kubernetes.io": { ...own, secret: {} } },
      { "kubernetes.io": { ...own, pod: { name: "p", uid: "1" } } },
      { "kubernetes.io": { ...own, node: { name: "n", uid: "1" } } },
    ];
    for (const claims of wrong)
      expect(await server.ask(altered(token, { claims })), JSON.stringify(claims)).to.equal(undefined);
  });

  it("are rejected without harm if they are not tokens", async () => {
    const deep = `{"iss":"https://kcp.default.svc","a":${"[".repeat(9000)}${"]".repeat(9000)}}`;
    const parts = [
      "a.b.c",
      "..",
      "eyJ.eyJ.eyJ",
      signed({ alg: "RS256" }, deep, { key: RSA.privateKey, alg: "RS256" }),
      "x".repeat(70_000),
    ];
    for (const token of parts) expect(await server.ask(token)).to.equal(undefined);
    expect((await server.review("a.b.c"))["error"]).to.equal("invalid bearer token");
  });

  it("are rejected and logged while the account lookup fails, and accepted again afterwards", async () => {
    const token = await server.token();
    server.fault = new Error("the store is away");
    expect(await server.ask(token)).to.equal(undefined);
    expectFault(/the store is away/);
    server.fault = undefined;
    expect(await server.ask(token)).not.to.equal(undefined);
  });
});

describe("service account keys", () => {
  it("reject weak and unsuitable keys", () => {
    const make =
      (signing: string, verification: string[] = []) =>
      () =>
        new ServiceAccountKeys({ signing, verification });
    const kind = "invalid service account key: use RSA with at least 2048 bits, or the elliptic curve P-256";
    expect(make(pemOf(signingKey("rsa-1024").privateKey, "pkcs8"))).to.throw(kind);
    expect(make(pemOf(signingKey("ed25519").privateKey, "pkcs8"))).to.throw(kind);
    expect(make(pemOf(RSA.publicKey, "spki"))).to.throw(
      "the signing key must be a PEM private key without a passphrase",
    );
    const good = pemOf(RSA.privateKey, "pkcs8");
    expect(make(good, ["no key"])).to.throw("a verification key contains no PEM");
    expect(make(good, ["-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"])).to.throw(
      "a verification key must be a PEM key or certificate",
    );
  });

  it("have Kubernetes' key IDs: the SHA-256 of the public key", () => {
    expect(
      createPublicKey(KEYS.verification[0]?.key.export({ type: "spki", format: "pem" }) ?? "").equals(RSA.publicKey),
    ).to.equal(true);
    expect(KEYS.signing.kid).to.match(/^[\w-]{43}$/);
  });
});
