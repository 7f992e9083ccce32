// Which JSON Web Tokens are accepted: attacks with tokens on a running server, and an issuer with real keys.
import { inspect } from "node:util";
import { staticTokens } from "@virtual-workspaces/framework";
import { type JwtAuthenticator, jwt } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { publicJwk, type SigningKey, signed, signingKey, TestIssuer } from "../_support/issuer.ts";
import { type JwtServer, startJwt } from "../_support/jwt-server.ts";

const seconds = (): number => Math.floor(Date.now() / 1000);

describe("tokens of an issuer", () => {
  let issuer: TestIssuer;
  let server: JwtServer;
  let rsa: SigningKey;

  before(async () => {
    rsa = signingKey("rsa");
    issuer = await TestIssuer.start();
    issuer.keys = [...issuer.keys, publicJwk(rsa)];
    server = await startJwt([issuer.config()]);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  /** Rejected for a reason. Each uses a server of its own, because the log of reasons is rate limited. */
  const refused = async (token: string, reason: RegExp): Promise<void> => {
    await using strict = await startJwt([issuer.config()]);
    expect(await strict.ask(token)).to.equal(undefined);
    const [why, ...more] = strict.reasons();
    expect(String(why)).to.match(reason);
    expect(more).to.deep.equal([]);
  };

  it("are accepted: the claims name the user, who is authenticated", async () => {
    expect(await server.ask(issuer.token({ groups: ["a", "b"], jti: "1" }))).to.deep.equal({
      name: "jane",
      uid: "",
      groups: ["a", "b", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"] },
    });
    expect(server.reasons()).to.deep.equal([]);
  });

  for (const alg of ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])
    it(`are accepted with ${alg}`, async () => {
      expect(await server.ask(issuer.token({}, { key: rsa, alg }))).to.include({ name: "jane" });
    });

  for (const [alg, curve] of [
    ["ES384", "P-384"],
    ["ES512", "P-521"],
  ] as const)
    it(`are accepted with ${alg}, only by a key of its curve`, async () => {
      const [key, other] = [signingKey(curve), signingKey("P-256")];
      issuer.keys = [...issuer.keys, publicJwk(key), publicJwk(other)];
      expect(await server.ask(issuer.token({}, { key, alg }))).to.include({ name: "jane" });
      await refused(issuer.token({}, { key: other, alg }), /no key of its issuer/);
    });

  it("are rejected without a signature: alg none in any spelling", async () => {
    for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
      const token = issuer.token({}, { alg: "none", header: { alg } });
      // Without a third part it is not a JWT; with one it is rejected.
      expect(await server.ask(token)).to.equal(undefined);
      await refused(`${token}AAAA`, /algorithm/);
    }
  });

  it("are rejected when signed with the public key as a shared secret", async () => {
    const secrets = [
      rsa.publicKey.export({ type: "spki", format: "pem" }) as string,
      rsa.publicKey.export({ type: "pkcs1", format: "pem" }) as string,
      JSON.stringify(publicJwk(rsa)),
      "",
    ];
    const claims = { iss: issuer.url, aud: "vw", sub: "jane", exp: seconds() + 60 };
    for (const alg of ["HS256", "HS384", "HS512"])
      for (const secret of secrets)
        await refused(signed({ alg, kid: rsa.kid }, claims, { key: secret, alg }), /algorithm/);
  });

  it("are rejected with an unsupported algorithm", async () => {
    const key = signingKey("ed25519");
    issuer.keys = [...issuer.keys, publicJwk(key)];
    await refused(issuer.token({}, { key, alg: "EdDSA" }), /algorithm/);
    await refused(issuer.token({}, { header: { alg: 256 } }), /algorithm/);
    await refused(issuer.token({}, { header: { alg: undefined } }), /algorithm/);
    await refused(issuer.token({}, { header: { alg: "toString" } }), /algorithm/);
  });

  it("are rejected when a key signs with another key's algorithm", async () => {
    const token = issuer.token({}, { key: rsa, alg: "RS256" });
    for (const alg of ["ES256", "PS256", "RS512"]) {
      const [, claims, signature] = token.split(".");
      const header = Buffer.from(JSON.stringify({ alg, kid: rsa.kid })).toString("base64url");
      await refused(`${header}.${claims}.${signature}`, /no key of its issuer/);
    }
  });

  const claims: Record<string, readonly [Record<string, unknown>, RegExp]> = {
    "for another audience": [{ aud: "other" }, /audience is not accepted/],
    "for a substring of the audience": [{ aud: ["v", "vw2", "VW", " vw"] }, /audience is not accepted/],
    "without an audience": [{ aud: undefined }, /claim aud/],
    "with an object as audience": [{ aud: { vw: "vw" } }, /claim aud/],
    "with a mixed list of audiences": [{ aud: ["vw", 1] }, /claim aud/],
    "without an issuer": [{ iss: undefined }, /no issuer with this name/],
    "of another issuer": [{ iss: "https://other.example" }, /no issuer with this name/],
    "of an issuer with an additional slash": [{ iss: "issuer/" }, /no issuer with this name/],
    "that have expired": [{ exp: seconds() - 2 }, /expired/],
    "that never expire": [{ exp: undefined }, /claim exp is missing/],
    "with a string as expiry": [{ exp: String(seconds() + 60) }, /claim exp must be a number/],
    "with null as expiry": [{ exp: null }, /claim exp must be a number/],
    "that are not valid yet": [{ nbf: seconds() + 3600 }, /not valid yet/],
    "with a string as start": [{ nbf: "0" }, /claim nbf must be a number/],
    "without a name": [{ sub: undefined }, /claim sub is missing/],
    "with an empty name": [{ sub: "" }, /user name is empty/],
    "with a number as name": [{ sub: 7 }, /claim sub must be a string/],
    "with a list of names": [{ sub: ["jane"] }, /claim sub must be a string/],
    "with an object as groups": [{ groups: { a: "b" } }, /claim groups must be/],
    "with a mixed list of groups": [{ groups: ["a", 1] }, /claim groups must be/],
    "with distributed groups": [
      { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://127.0.0.1:1/" } } },
      /distributed claim/,
    ],
  };
  for (const [what, [changed, reason]] of Object.entries(claims))
    it(`are rejected ${what}`, () => refused(issuer.token(changed), reason));

  it("are accepted from 5 minutes before they become valid, and with several audiences", async () => {
    expect(await server.ask(issuer.token({ nbf: seconds() + 290, aud: ["x", "vw"] }))).to.include({ name: "jane" });
  });

  it("are rejected when one bit is changed", async () => {
    const token = issuer.token({ groups: ["a"] });
    const [header = "", body = "", signature = ""] = token.split(".");
    const flipped = (part: string): string => `${part.slice(0, 9)}${part[9] === "A" ? "B" : "A"}${part.slice(10)}`;
    await refused(`${header}.${body}.${flipped(signature)}`, /no key of its issuer/);
    const other = Buffer.from(body, "base64url").toString().replace('"jane"', '"root"');
    await refused(`${header}.${Buffer.from(other).toString("base64url")}.${signature}`, /no key of its issuer/);
    await refused(`${header}.${body}.${signature.slice(0, -4)}`, /no key of its issuer/);
  });

  it("are rejected when they contain or name their own key: jwk, jku, x5u, x5c", async () => {
    const own = signingKey();
    const there = `${issuer.url}/evil`;
    issuer.paths.length = 0;
    for (const header of [
      { jwk: publicJwk(own) },
      { jku: there },
      { x5u: there },
      { x5c: ["MII"], x5t: "x" },
      { jku: there, kid: issuer.key.kid },
    ])
      await refused(issuer.token({}, { key: own, header }), /no key of its issuer/);
    expect(issuer.paths.filter((path) => path.includes("evil"))).to.deep.equal([]);
  });

  it("are rejected with critical extensions in the header", async () => {
    for (const crit of [["b64"], ["exp"], [], "exp"])
      await refused(issuer.token({}, { header: { crit, b64: false } }), /critical extensions/);
  });

  it("have key ids that are used only for comparison", async () => {
    const kids = [
      "../../keys",
      "/etc/passwd",
      "' OR 1=1 --",
      "__proto__",
      "constructor",
      "http://127.0.0.1:1/k",
      "a\u0000b",
      "",
    ];
    issuer.paths.length = 0;
    for (const kid of kids) await refused(issuer.token({}, { header: { kid } }), /no key of its issuer/);
    for (const kid of [7, null, {}, ["a"]])
      await refused(issuer.token({}, { header: { kid } }), /key id must be a string/);
    expect(new Set(issuer.paths)).to.deep.equal(new Set(["/.well-known/openid-configuration", "/keys"]));
  });

  it("need no key id: all keys are tried", async () => {
    const { counts } = issuer;
    const before = counts.keys;
    expect(await server.ask(issuer.token({}, { header: { kid: undefined } }))).to.include({ name: "jane" });
    expect(counts.keys).to.equal(before);
  });

  it("are rejected with a duplicate claim or header member, whichever is valid", async () => {
    const { kid, privateKey } = issuer.key;
    const signing = { key: privateKey, alg: "ES256" };
    const all = { iss: issuer.url, aud: "vw", sub: "jane", exp: seconds() + 60 };
    const header = { alg: "ES256", kid };
    const twice = (text: object, member: string): string => JSON.stringify(text).replace("{", `{${member},`);
    await refused(signed(header, twice(all, '"sub":"root"'), signing), /claims have a duplicate member/);
    await refused(signed(header, twice(all, '"s\\u0075b":"root"'), signing), /claims have a duplicate member/);
    await refused(
      signed(header, twice({ ...all, a: { b: 1 } }, '"iss":"x"'), signing),
      /claims have a duplicate member/,
    );
    await refused(signed(twice(header, '"alg":"ES256"'), all, signing), /header have a duplicate member/);
  });

  it("are rejected when a part is not a JSON object, or not UTF-8", async () => {
    const { kid, privateKey } = issuer.key;
    const signing = { key: privateKey, alg: "ES256" };
    const header = { alg: "ES256", kid };
    for (const body of ["[]", "null", '"x"', "{", "", "{}{}", "\ufeff{}"])
      if (body !== "") await refused(signed(header, body, signing), /not a JSON object/);
    const [head, , signature] = issuer.token().split(".");
    await refused(`${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")}.${signature}`, /UTF-8/);
    await refused(
      `${Buffer.from("[1]").toString("base64url")}.${issuer.token().split(".")[1]}.AAAA`,
      /not a JSON object/,
    );
  });

  it("are rejected without parsing when they are too large", async () => {
    await refused(issuer.token({ pad: "x".repeat(64 * 1024) }), /longer than 65536/);
    await refused(issuer.token({ pad: Array(12_000).fill([]) }), /are too large/);
    expect(await server.ask(issuer.token({ pad: "x".repeat(40 * 1024) }))).to.include({ name: "jane" });
  });

  it("are left to other authenticators when they are not JWTs, and nothing is logged", async () => {
    for (const token of ["x", "a.b", "a.b.c.d.e", "..", "a..c", "a.b.c=", "a b.c.d", "ä.b.c"])
      expect(await server.ask(encodeURI(token))).to.equal(undefined);
    expect(server.reasons()).to.deep.equal([]);
  });
});

describe("tokens", () => {
  it("are accepted after their expiry within the clock skew, and no longer", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()], { clockSkew: 60_000 });
    expect(await server.ask(issuer.token({ exp: seconds() - 30 }))).to.include({ name: "jane" });
    expect(await server.ask(issuer.token({ exp: seconds() - 62 }))).to.equal(undefined);
    expect(server.reasons()).to.deep.equal(["it has expired"]);
  });

  it("expire even if their verdict is cached", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()]);
    const end = seconds() + 2;
    const token = issuer.token({ exp: end });
    let known = 0;
    while ((await server.ask(token)) !== undefined) known += 1;
    expect(Date.now()).to.be.at.least(end * 1000);
    expect(Date.now()).to.be.below(end * 1000 + 1500);
    expect(known).to.be.above(1);
    expect(server.reasons()).to.deep.equal(["it has expired"]);
  });

  it("are judged only by the issuer that they name, though another has the same key", async () => {
    await using a = await TestIssuer.start();
    await using b = await TestIssuer.start({ authority: a.authority });
    b.key = a.key;
    b.keys = a.keys;
    const prefixed = (prefix: string): Partial<JwtAuthenticator> => ({
      claimMappings: { username: { claim: "sub", prefix } },
    });
    const forB = { ...b.config(prefixed("b:")).issuer, audiences: ["only-b"] };
    await using server = await startJwt([a.config(prefixed("a:")), { ...b.config(prefixed("b:")), issuer: forB }]);
    expect(await server.ask(a.token())).to.include({ name: "a:jane" });
    expect(await server.ask(b.token({ aud: "only-b" }))).to.include({ name: "b:jane" });
    // Each audience belongs to one issuer.
    expect(await server.ask(b.token())).to.equal(undefined);
    expect(await server.ask(a.token({ aud: "only-b" }))).to.equal(undefined);
    // The name that is inserted here is not signed.
    const [header, body = "", signature] = a.token().split(".");
    const swapped = Buffer.from(body, "base64url").toString().replace(a.url, b.url).replace('"vw"', '"only-b"');
    expect(await server.ask(`${header}.${Buffer.from(swapped).toString("base64url")}.${signature}`)).to.equal(
      undefined,
    );
    expect(server.reasons()).to.deep.equal([
      "audience is not accepted: claim aud",
      "audience is not accepted: claim aud",
      "signature matches no key of its issuer",
    ]);
  });

  it("can omit the scheme of the issuer if they are Google's, as in Kubernetes", async () => {
    const key = signingKey();
    const given = (url: string): JwtAuthenticator => ({
      issuer: { url, audiences: ["vw"], keys: { keys: [publicJwk(key)] } },
      claimMappings: { username: { claim: "sub", prefix: "" } },
    });
    await using server = await startJwt([given("https://accounts.google.com"), given("https://a.example")]);
    const ask = async (iss: string): Promise<string | undefined> => {
      const claims = { iss, aud: "vw", sub: "jane", exp: seconds() + 60 };
      return (await server.ask(signed({ alg: "ES256" }, claims, { key: key.privateKey, alg: "ES256" })))?.name;
    };
    expect(await ask("accounts.google.com")).to.equal("jane");
    expect(await ask("https://accounts.google.com")).to.equal("jane");
    expect(await ask("a.example")).to.equal(undefined);
  });

  it("are rejected when another issuer's key signed them", async () => {
    await using a = await TestIssuer.start();
    await using b = await TestIssuer.start({ authority: a.authority });
    await using server = await startJwt([a.config(), b.config()]);
    expect(await server.ask(b.token())).to.include({ name: "jane" });
    expect(await server.ask(a.token({}, { key: b.key }))).to.equal(undefined);
    expect(await server.ask(a.token({}, { key: { ...b.key, kid: a.key.kid } }))).to.equal(undefined);
    expect(a.paths.length).to.be.above(0);
  });

  it("are not logged as rejected when another authenticator accepts them", async () => {
    await using known = await TestIssuer.start();
    await using other = await TestIssuer.start({ authority: known.authority });
    const { log, records } = testLog();
    const [theirs, strange] = [other.token(), other.token({ n: 1 })];
    const authentication = [jwt(known.config(), { log }), staticTokens({ [theirs]: { name: "robot" } })];
    await using server = await startJwt({ authenticators: authentication, jwt: [], anonymous: undefined });
    expect(await server.ask(theirs)).to.include({ name: "robot" });
    expect(records).to.deep.equal([]);
    expect(await server.ask(strange)).to.equal(undefined);
    expect(records.map(({ message, issuer }) => [message, issuer])).to.deep.equal([["token rejected", other.url]]);
  });

  it("are logged at a limited rate when they are rejected, only with issuer and key id", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()], { fetchCooldown: 60_000 });
    const secret = "s3cr3t-claim";
    const kid = `k${"x".repeat(5000)}`;
    for (let n = 0; n < 300; n++)
      await server.ask(issuer.token({ sub: secret, groups: [secret], n }, { key: signingKey(), header: { kid } }));
    const lines = server.records.filter(({ message }) => message === "token rejected");
    expect(lines.length).to.be.within(10, 30);
    expect(lines[0]).to.have.all.keys("level", "message", "issuer", "keyId", "reason");
    expect(lines.at(-1)?.level).to.equal("info");
    expect(inspect(server.records, { depth: 9, maxStringLength: null })).not.to.include(secret);
    expect(String(lines[0]?.["keyId"]).length).to.be.below(300);
  }).timeout(20_000);
});
