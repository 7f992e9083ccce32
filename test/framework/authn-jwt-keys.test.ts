// Keys of issuers: rotation, withdrawal, floods, and issuers that are down, slow or return invalid responses.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type JwtAuthenticator, jwt } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { Authority } from "../_support/certificates.ts";
import { publicJwk, signingKey, TestIssuer } from "../_support/issuer.ts";
import { startJwt } from "../_support/jwt-server.ts";

const NOT_FETCHED = /cannot fetch keys of token issuer/;

describe("keys of an issuer", () => {
  it("are fetched once for concurrent first requests, and not again", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()]);
    expect(issuer.paths).to.deep.equal([]);
    const users = await Promise.all(Array.from({ length: 20 }, (_, n) => server.ask(issuer.token({ sub: `u${n}` }))));
    expect(users.map((user) => user?.name)).to.deep.equal(Array.from({ length: 20 }, (_, n) => `u${n}`));
    expect(issuer.counts).to.include({ discovery: 1, keys: 1 });
  });

  it("are fetched again for a token with a new key, and old keys stay valid while they are published", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()]);
    const before = issuer.key;
    expect(await server.ask(issuer.token({ sub: "a" }))).to.include({ name: "a" });
    issuer.rotate(true);
    expect(await server.ask(issuer.token({ sub: "b" }))).to.include({ name: "b" });
    expect(await server.ask(issuer.token({ sub: "c" }, { key: before }))).to.include({ name: "c" });
    expect(issuer.counts.keys).to.equal(2);
    issuer.rotate(false);
    expect(await server.ask(issuer.token({ sub: "d" }))).to.include({ name: "d" });
    expect(await server.ask(issuer.token({ sub: "e" }, { key: before }))).to.equal(undefined);
  });

  it("are found when a new key reuses the id of an old one", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()]);
    expect(await server.ask(issuer.token({ sub: "a" }))).to.include({ name: "a" });
    const { kid } = issuer.key;
    issuer.key = { ...signingKey(), kid };
    issuer.keys = [publicJwk(issuer.key)];
    expect(await server.ask(issuer.token({ sub: "b" }))).to.include({ name: "b" });
  });

  it("are dropped after withdrawal when they reach their maximum age, even without a token with a new key", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()], { refreshKeysEvery: 1 });
    expect(await server.ask(issuer.token({ sub: "a" }))).to.include({ name: "a" });
    const before = issuer.key;
    issuer.rotate(false);
    for (let n = 0; (await server.ask(issuer.token({ n }, { key: before }))) !== undefined; n++)
      expect(n).to.be.below(50);
  });

  it("are fetched once within the cooldown, however many tokens name unknown keys", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()], { fetchCooldown: 60_000 });
    const stranger = signingKey();
    const flood = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          server.ask(issuer.token({ n }, { key: stranger, header: { kid: `unknown-${n}` } })),
        ),
      );
    expect(new Set(await flood(50))).to.deep.equal(new Set([undefined]));
    expect(await server.ask(issuer.token())).to.include({ name: "jane" });
    await flood(50);
    expect(issuer.counts.keys).to.equal(1);
  });

  it("can be of many types: keys that cannot verify signatures are skipped", async () => {
    await using issuer = await TestIssuer.start();
    const { key } = issuer;
    const wrong = [
      { kty: "oct", k: "c2VjcmV0", kid: key.kid, alg: "HS256" },
      publicJwk(key, { use: "enc" }),
      publicJwk(key, { key_ops: ["encrypt"] }),
      publicJwk(key, { alg: "ES384" }),
      { kty: "EC", crv: "P-256", x: "!", y: "!", kid: key.kid },
      { kty: "EC", kid: key.kid },
      { kty: "post-quantum", kid: key.kid },
      {},
    ];
    await using server = await startJwt([issuer.config()]);
    issuer.keys = wrong;
    expect(await server.ask(issuer.token())).to.equal(undefined);
    issuer.keys = [...wrong, { ...publicJwk(key), ...key.privateKey.export({ format: "jwk" }) }];
    expect(await server.ask(issuer.token())).to.include({ name: "jane" });
  });

  it("are skipped when they are too short to be safe", async () => {
    await using issuer = await TestIssuer.start();
    const short = signingKey("rsa-1024");
    issuer.keys = [publicJwk(short), ...issuer.keys];
    await using server = await startJwt([issuer.config()]);
    expect(await server.ask(issuer.token({}, { key: short, alg: "RS256" }))).to.equal(undefined);
    expect(server.reasons()).to.deep.equal(["signature matches no key of its issuer"]);
    expect(await server.ask(issuer.token())).to.include({ name: "jane" });
  });

  it("can be given as a key set, PEM or a certificate, and are then never fetched", async () => {
    const authority = Authority.root("signs tokens");
    const pair = authority.issue({ name: "token-signer" });
    const key = signingKey("rsa");
    const { createPrivateKey, createPublicKey } = await import("node:crypto");
    const certified = { kid: "c", privateKey: createPrivateKey(pair.key), publicKey: createPublicKey(pair.cert) };
    await using issuer = await TestIssuer.start();
    const pem = key.publicKey.export({ type: "spki", format: "pem" }) as string;
    for (const keys of [{ keys: [publicJwk(key)] }, pem, `${pair.cert}${pem}`]) {
      const given: JwtAuthenticator = {
        ...issuer.config(),
        issuer: { url: "kubernetes/serviceaccount", audiences: ["vw"], keys },
      };
      await using server = await startJwt([given]);
      const iss = "kubernetes/serviceaccount";
      expect(await server.ask(issuer.token({ iss }, { key, alg: "RS256" }))).to.include({ name: "jane" });
      const isThere = typeof keys === "string" && keys.includes("CERT");
      expect((await server.ask(issuer.token({ iss }, { key: certified })))?.name).to.equal(
        isThere ? "jane" : undefined,
      );
      expect(await server.ask(issuer.token({ iss }))).to.equal(undefined);
    }
    expect(issuer.paths).to.deep.equal([]);
  });
});

describe("an issuer", () => {
  it("rejects its own tokens only when it is down at the start, and recovers", async () => {
    await using down = await TestIssuer.start();
    await using other = await TestIssuer.start({ authority: down.authority });
    await using server = await startJwt([down.config(), other.config()]);
    await down.down();
    expect(await server.ask(down.token())).to.equal(undefined);
    expectFault(/cannot fetch keys of token issuer .*"serving":"none".*ECONNREFUSED/);
    expect(server.reasons()).to.deep.equal(["keys of its issuer are not available"]);
    expect(await server.ask(other.token())).to.include({ name: "jane" });
    await down.up();
    expect(await server.ask(down.token())).to.include({ name: "jane" });
  });

  it("is contacted once within the cooldown while it is down", async () => {
    await using issuer = await TestIssuer.start();
    issuer.answer = () => ({ status: 503, body: "" });
    await using server = await startJwt([issuer.config()], { fetchCooldown: 60_000 });
    for (let n = 0; n < 10; n++) expect(await server.ask(issuer.token({ n }))).to.equal(undefined);
    expectFault(/cannot fetch .*status 503/);
    expect(issuer.paths).to.have.length(1);
  });

  it("keeps its keys when it goes down, and publishes new ones when it is back", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()], { refreshKeysEvery: 1 });
    expect(await server.ask(issuer.token({ sub: "a" }))).to.include({ name: "a" });
    await issuer.down();
    for (const sub of ["b", "c", "d"]) expect(await server.ask(issuer.token({ sub }))).to.include({ name: sub });
    const before = issuer.key;
    issuer.rotate(false);
    expect(await server.ask(issuer.token({ sub: "e" }))).to.equal(undefined);
    expectFault(/cannot fetch .*"serving":"the previous keys"/);
    await issuer.up();
    expect(await server.ask(issuer.token({ sub: "f" }))).to.include({ name: "f" });
    expect(await server.ask(issuer.token({ sub: "g" }, { key: before }))).to.equal(undefined);
  });

  for (const how of ["hang", "stall"] as const)
    it(`times out if it does not respond, without delaying tokens with known keys: ${how}`, async () => {
      await using issuer = await TestIssuer.start();
      await using other = await TestIssuer.start({ authority: issuer.authority });
      await using server = await startJwt([issuer.config(), other.config()], { fetchTimeout: 1000 });
      issuer.answer = () => how;
      let settled = false;
      const slow = server.ask(issuer.token()).finally(() => {
        settled = true;
      });
      expect(await server.ask(other.token())).to.include({ name: "jane" });
      expect(settled).to.equal(false);
      expect(await slow).to.equal(undefined);
      expectFault(/cannot fetch .*no complete response within 1000 ms/);
      issuer.answer = () => undefined;
      expect(await server.ask(issuer.token())).to.include({ name: "jane" });
    });

  it("fails at once if it responds with an upgrade, and is contacted again", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()]);
    const headers = { Connection: "Upgrade", Upgrade: "websocket" };
    issuer.answer = () => ({ status: 101, headers, body: "" });
    expect(await server.ask(issuer.token())).to.equal(undefined);
    expectFault(/cannot fetch .*status 101/);
    issuer.answer = () => undefined;
    expect(await server.ask(issuer.token())).to.include({ name: "jane" });
  });

  const large = JSON.stringify({ issuer: "x", pad: "x".repeat(2 * 1024 * 1024) });
  const nonsense: Record<
    string,
    readonly [
      (
        issuer: TestIssuer,
        path: string,
      ) => { status?: number; headers?: Record<string, string>; body: string | Buffer } | undefined,
      RegExp,
    ]
  > = {
    "of 2 MiB": [() => ({ body: large }), /larger than 1048576 bytes/],
    "that are not JSON": [() => ({ body: "<html>hi</html>" }), /discovery document is not a JSON object/],
    "that are not UTF-8": [() => ({ body: Buffer.from([0x7b, 0xff, 0x7d]) }), /not UTF-8/],
    "of another issuer": [
      (issuer) => ({ body: JSON.stringify({ issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/keys` }) }),
      /of another issuer/,
    ],
    "without jwks_uri": [(issuer) => ({ body: JSON.stringify({ issuer: issuer.url }) }), /no jwks_uri/],
    "that name a plain HTTP URL": [
      (issuer) => ({ body: JSON.stringify({ issuer: issuer.url, jwks_uri: issuer.url.replace("https", "http") }) }),
      /not an https URL/,
    ],
    "that name a file URL": [
      (issuer) => ({ body: JSON.stringify({ issuer: issuer.url, jwks_uri: "file:///etc/passwd" }) }),
      /not an https URL/,
    ],
    "that redirect": [
      (issuer, path) =>
        path.startsWith("/.well") ? { status: 302, headers: { Location: `${issuer.url}/there` }, body: "" } : undefined,
      /status 302/,
    ],
    "whose keys are not a key set": [
      (_, path) => (path === "/keys" ? { body: '{"keys":{"a":1}}' } : undefined),
      /not a JSON Web Key Set/,
    ],
    "with too many keys": [
      (_, path) => (path === "/keys" ? { body: JSON.stringify({ keys: Array(101).fill({}) }) } : undefined),
      /more than 100 keys/,
    ],
  };
  for (const [what, [answer, fault]] of Object.entries(nonsense))
    it(`has no keys with responses ${what}`, async () => {
      await using issuer = await TestIssuer.start();
      await using server = await startJwt([issuer.config()]);
      issuer.answer = (path) => answer(issuer, path);
      expect(await server.ask(issuer.token())).to.equal(undefined);
      expectFault(new RegExp(`${NOT_FETCHED.source}.*${fault.source}`));
      expect(issuer.paths).not.to.include("/there");
      issuer.answer = () => undefined;
      expect(await server.ask(issuer.token())).to.include({ name: "jane" });
    });

  it("has no keys if another issuer's authority signed its certificate", async () => {
    await using issuer = await TestIssuer.start();
    await using other = await TestIssuer.start();
    const wrong = { ...issuer.config().issuer, certificateAuthority: other.authority.cert };
    const { certificateAuthority: _, ...none } = issuer.config().issuer;
    for (const one of [wrong, none]) {
      await using server = await startJwt([other.config(), { ...issuer.config(), issuer: one }]);
      expect(await server.ask(other.token())).to.include({ name: "jane" });
      expect(await server.ask(issuer.token())).to.equal(undefined);
      expectFault(NOT_FETCHED);
    }
    expect(issuer.paths).to.deep.equal([]);
  });

  it("can have an unlimited timeout, and invalid durations are rejected", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([issuer.config()], { fetchTimeout: Number.POSITIVE_INFINITY });
    expect(await server.ask(issuer.token())).to.include({ name: "jane" });
    for (const [settings, message] of [
      [{ fetchTimeout: 0 }, "fetchTimeout must be a whole number from 1 on, or Infinity; it is 0"],
      [{ fetchCooldown: -1 }, "fetchCooldown must be a whole number from 0 on, or Infinity; it is -1"],
      [{ refreshKeysEvery: 0 }, "refreshKeysEvery must be a whole number from 1 on, or Infinity; it is 0"],
      [{ clockSkew: Number.NaN }, "clockSkew must be a whole number from 0 on, or Infinity; it is NaN"],
    ] as const)
      expect(() => jwt(issuer.config(), settings)).to.throw(message);
  });

  it("can have an empty discoveryURL, which counts as unset, as in Kubernetes", async () => {
    await using issuer = await TestIssuer.start();
    await using server = await startJwt([
      { ...issuer.config(), issuer: { ...issuer.config().issuer, discoveryURL: "" } },
    ]);
    expect(await server.ask(issuer.token())).to.include({ name: "jane" });
  });

  it("can be discovered at another URL, if the document names the issuer", async () => {
    await using issuer = await TestIssuer.start();
    const url = "https://issuer.example";
    const there: JwtAuthenticator = {
      ...issuer.config(),
      issuer: { ...issuer.config().issuer, url, discoveryURL: `${issuer.url}/discovery` },
    };
    await using server = await startJwt([there]);
    expect(await server.ask(issuer.token({ iss: url }))).to.equal(undefined);
    expectFault(/status 404/);
    issuer.answer = (path) =>
      path.startsWith("/discovery")
        ? { body: JSON.stringify({ issuer: url, jwks_uri: `${issuer.url}/keys` }) }
        : undefined;
    expect(await server.ask(issuer.token({ iss: url }))).to.include({ name: "jane" });
    expect(await server.ask(issuer.token())).to.equal(undefined);
  });
});

describe("cached verdicts", () => {
  it("take limited memory, whatever tokens arrive: 12,000 of 4 KiB", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const held = (): number => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 2 ** 20;
    };
    await using issuer = await TestIssuer.start();
    const { authenticateToken } = jwt(issuer.config());
    const ask = async (n: number): Promise<void> => {
      const user = await authenticateToken(issuer.token({ sub: `u${n}`, pad: "x".repeat(3000) }));
      expect(user).to.include({ name: `u${n}` });
    };
    for (let n = 0; n < 100; n++) await ask(n);
    const before = held();
    for (let n = 100; n < 12_000; n += 100) await Promise.all(Array.from({ length: 100 }, (_, more) => ask(n + more)));
    expect(held() - before).to.be.below(24);
  }).timeout(60_000);
});
