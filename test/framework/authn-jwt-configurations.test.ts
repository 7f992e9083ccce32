// Tokens with configurations that change at run time: one instance for the configurations of all tenants.
import { connect } from "node:net";
import { type JwtAuthenticator, JwtConfigurations, type JwtSettings } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { publicJwk, signingKey, TestIssuer } from "../_support/issuer.ts";

function start(settings: JwtSettings = {}) {
  const { log, records } = testLog();
  const tokens = new JwtConfigurations({ log, fetchCooldown: 0, ...settings });
  const nameOf = async (token: string, ...configurations: readonly (readonly JwtAuthenticator[])[]) =>
    (await tokens.userOf(token, configurations))?.name;
  return { nameOf, records };
}

const prefixed = (prefix: string) => ({ claimMappings: { username: { claim: "sub", prefix } } });

describe("JWT configurations that change at run time", () => {
  it("share an entry if their content is equal, and contact an issuer only for its own tokens", async () => {
    await using one = await TestIssuer.start();
    await using other = await TestIssuer.start();
    const { nameOf, records } = start();
    expect(await nameOf("opaque", [one.config()])).to.equal(undefined);
    expect(await nameOf(other.token(), [one.config()])).to.equal(undefined);
    expect(await nameOf(one.token())).to.equal(undefined);
    expect([...one.paths, ...other.paths]).to.deep.equal([]);
    const reason = "no issuer with this name is configured: names are compared exactly";
    const told = { level: "info", message: "token rejected", reason };
    expect(records).to.deep.equal([
      { ...told, issuer: other.url },
      { ...told, issuer: one.url },
    ]);
    for (let n = 0; n < 3; n++)
      expect(await nameOf(one.token({ n }), [other.config()], [one.config()])).to.equal("jane");
    expect(one.counts).to.include({ discovery: 1, keys: 1 });
    expect(other.paths).to.deep.equal([]);
    expect(records).to.have.length(2);
  });

  it("have separate entries if their content differs, despite cached verdicts for a token", async () => {
    await using issuer = await TestIssuer.start();
    const { nameOf } = start();
    const token = issuer.token();
    expect(await nameOf(token, [issuer.config(prefixed("a:"))])).to.equal("a:jane");
    expect(await nameOf(token, [issuer.config(prefixed("b:"))])).to.equal("b:jane");
    const others = issuer.config();
    expect(await nameOf(token, [{ ...others, issuer: { ...others.issuer, audiences: ["others"] } }])).to.equal(
      undefined,
    );
  });

  it("are tried in their order", async () => {
    await using issuer = await TestIssuer.start();
    const { nameOf } = start();
    const [a, b] = ["a:", "b:"].map((prefix) => [issuer.config(prefixed(prefix))]) as [
      JwtAuthenticator[],
      JwtAuthenticator[],
    ];
    expect(await nameOf(issuer.token(), a, b)).to.equal("a:jane");
    expect(await nameOf(issuer.token(), b, a)).to.equal("b:jane");
  });

  it("accept no tokens if they are invalid, are logged once, and do not affect others", async () => {
    await using issuer = await TestIssuer.start();
    const { nameOf, records } = start();
    const { issuer: about, ...rest } = issuer.config();
    const wrong = [{ ...rest, issuer: { ...about, audiences: [] } }];
    for (let n = 0; n < 3; n++) expect(await nameOf(issuer.token(), wrong)).to.equal(undefined);
    expect(await nameOf(issuer.token(), wrong, [issuer.config()])).to.equal("jane");
    const told = records.filter(({ message }) => message === "token issuers not usable");
    expect(told.map(({ error }) => error)).to.deep.equal([
      "Error: jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required",
    ]);
    expectFault(/token issuers not usable/);
  });

  it("do not delay other issuers if one does not respond", async () => {
    await using away = await TestIssuer.start();
    await using issuer = await TestIssuer.start();
    away.answer = () => "hang";
    const { nameOf } = start();
    const both = [[away.config()], [issuer.config()]];
    const waits = nameOf(away.token(), ...both);
    expect(await nameOf(issuer.token(), ...both)).to.equal("jane");
    await away.down();
    expect(await waits).to.equal(undefined);
    expectFault(/cannot fetch keys of token issuer/);
  });

  it("are evicted when the least recently used of 1,024", async () => {
    await using issuer = await TestIssuer.start();
    const { nameOf } = start();
    const key = signingKey();
    const given = (n: number): JwtAuthenticator => {
      const about = { url: `issuer-${n}`, audiences: ["vw"], keys: { keys: [publicJwk(key)] } };
      return { issuer: about, claimMappings: { username: { claim: "sub", prefix: `${n}:` } } };
    };
    const use = (n: number) => nameOf(issuer.token({ iss: `issuer-${n}` }, { key }), [given(n)]);
    const configuration = [issuer.config()];
    expect(await nameOf(issuer.token(), configuration)).to.equal("jane");
    for (let n = 0; n < 1_023; n++) expect(await use(n)).to.equal(`${n}:jane`);
    expect(await nameOf(issuer.token({ n: 1 }), configuration)).to.equal("jane");
    expect(issuer.counts.keys).to.equal(1);
    for (let n = 1_023; n < 2_048; n++) await use(n);
    expect(await nameOf(issuer.token({ n: 2 }), configuration)).to.equal("jane");
    expect(issuer.counts.keys).to.equal(2);
  });

  it("contact issuers only through `dial`, and still verify them by their own authority", async () => {
    await using issuer = await TestIssuer.start();
    await using stranger = await TestIssuer.start();
    const dialled: string[] = [];
    const { nameOf } = start({
      dial: async ({ host, port }) => {
        dialled.push(`${host}:${port}`);
        if (port !== Number(new URL(issuer.url).port)) throw new Error("not there");
        return connect({ host, port });
      },
    });
    expect(await nameOf(issuer.token(), [issuer.config()])).to.equal("jane");
    expect(dialled).to.deep.equal([new URL(issuer.url).host, new URL(issuer.url).host]);
    const unknown = [
      issuer.config({ issuer: { url: issuer.url, audiences: ["vw"], certificateAuthority: stranger.authority.cert } }),
    ];
    expect(await nameOf(issuer.token(), unknown)).to.equal(undefined);
    expectFault(/cannot fetch keys of token issuer.*certificate/);
    expect(await nameOf(stranger.token(), [stranger.config()])).to.equal(undefined);
    expectFault(/cannot fetch.*not there/);
    expect(stranger.paths).to.deep.equal([]);
  });
});
