// Identity of upstream requests: the whole caller or none, and never a user that the caller merely claims to be.
import { impersonated } from "@virtual-workspaces/forwarding";
import type { User } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../_support/note.ts";
import { outcome } from "../_support/plain.ts";
import { as, type Chain, startChain } from "./support.ts";

type Asker = Pick<User, "name" | "uid" | "groups" | "extra">;

/** Starts servers with a kind whose created objects record the user and the header lines. */
async function start(
  forward = {},
): Promise<Chain & { who(user: Parameters<typeof as>[0], more?: object): Promise<Asker> }> {
  const chain = await startChain({
    resource: Note,
    kept: {
      create: (_scope, object, { user: { name, uid, groups, extra } }) => ({
        ...object,
        spec: { text: JSON.stringify({ name, uid, groups, extra }) },
      }),
    },
    forward,
  });
  const who: Awaited<ReturnType<typeof start>>["who"] = async (user, more = {}) => {
    const headers = { ...as(user).headers, ...more };
    const answer = await chain.front.send(`POST ${chain.path}`, note(user.name), { headers });
    if (answer.status !== 201) throw new Error(answer.text);
    return JSON.parse(answer.body.spec.text);
  };
  return { ...chain, who };
}

const note = (text: string) => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { generateName: "n-" },
  spec: { text },
});

const AUTHENTICATED = "system:authenticated";

describe("a forwarding view", () => {
  it("impersonates the caller: name, uid, groups and extra, in any script and with any key", async () => {
    await using chain = await start();
    const user = {
      name: "Zoë Bücher 名前 🙂",
      uid: "ü-1",
      groups: ["dev", "über, alles", AUTHENTICATED],
      extra: { "example.dev/Scopes(é)_%41": ["a, b", "ç", ""], plain: ["x"] },
    };
    expect(await chain.who(user)).to.deep.equal(user);
  });

  it("impersonates a caller with 2,000 groups", async () => {
    await using chain = await start();
    const groups = [...Array.from({ length: 2000 }, (_, at) => `a-group-with-a-rather-long-name-${at}`), AUTHENTICATED];
    expect((await chain.who({ name: "ann", groups })).groups).to.deep.equal(groups);
  });

  it("rejects a caller with more groups than the upstream accepts, without truncation", async () => {
    await using chain = await start();
    const groups = Array.from({ length: 2600 }, (_, at) => `group-${at}`);
    const answer = await chain.front.send(`POST ${chain.path}`, note("x"), as({ name: "ann", groups }));
    expect(outcome(answer)[0]).to.equal(400);
    expect(answer.body.message).to.match(/has 2601 different values: send at most 2500/);
  });

  it("never uses the identity in the caller's own headers", async () => {
    await using chain = await start();
    const claims = {
      "X-Remote-User": "root",
      "X-Remote-Group": "system:masters",
      "X-Remote-Extra-Scopes": "all",
      Impersonate_User: "root",
      "X-Forwarded-User": "root",
    };
    expect(await chain.who({ name: "ann" }, claims)).to.deep.equal({
      name: "ann",
      uid: "",
      groups: [AUTHENTICATED],
      extra: {},
    });
  });

  it("never impersonates a user whom the caller may not impersonate here", async () => {
    await using chain = await start();
    const headers = { ...as({ name: "ann" }).headers, "Impersonate-User": "bob", "Impersonate-Group": "admins" };
    const answer = await chain.front.send(`POST ${chain.path}`, note("x"), { headers });
    expect(answer.status).to.equal(403);
    expect(chain.upstream.stats.requests).to.equal(0);
  });

  it("omits groups to which every API server grants rights", async () => {
    await using chain = await start();
    const groups = [
      "system:masters",
      "dev",
      "system:nodes",
      "system:kube-scheduler",
      "system:serviceaccounts:kube-system",
    ];
    expect((await chain.who({ name: "ann", groups })).groups).to.deep.equal(["dev", AUTHENTICATED]);
  });

  it("omits warrants, which carry another user's rights", async () => {
    await using chain = await start();
    const warrant = JSON.stringify({ user: "root", groups: ["system:masters"] });
    const extra = { "authorization.kcp.io/warrant": [warrant], scopes: ["cluster:a"] };
    expect((await chain.who({ name: "ann", extra })).extra).to.deep.equal({ scopes: ["cluster:a"] });
  });

  for (const name of [
    "system:admin",
    "system:node:a",
    "system:kube-controller-manager",
    "system:serviceaccount:kube-system:gc",
  ])
    it(`rejects ${name}`, async () => {
      await using chain = await start();
      const answer = await chain.front.send(`POST ${chain.path}`, note("x"), as({ name }));
      expect(outcome(answer)).to.deep.equal([
        403,
        "Forbidden",
        `forbidden: cannot act as "${name}" at the server behind this view: API servers grant rights to that name by ` +
          "themselves; use another user, or send the request to that server",
      ]);
      expect(chain.upstream.stats.requests).to.equal(0);
    });

  it("impersonates service accounts and anonymous users", async () => {
    await using chain = await start();
    const account = {
      name: "system:serviceaccount:a:b",
      groups: ["system:serviceaccounts", "system:serviceaccounts:a"],
    };
    expect(await chain.who(account)).to.deep.include({ ...account, groups: [...account.groups, AUTHENTICATED] });
    const nobody = { name: "system:anonymous", groups: ["system:unauthenticated"] };
    expect(await chain.who(nobody)).to.deep.include(nobody);
  });

  for (const [what, user] of Object.entries({
    "a name that ends in a space, which would become another user": { name: "admin " },
    "a name with a line break, which would add a header": { name: "a\r\nImpersonate-Group: system:masters" },
    "an empty group": { name: "ann", groups: [""] },
    "a tab before a group": { name: "ann", groups: ["\tadmins"] },
    "extra with an empty key": { name: "ann", extra: { "": ["x"] } },
    "a NUL character in an extra": { name: "ann", extra: { scopes: ["a\u0000b"] } },
    "half of a surrogate pair": { name: "ann\ud800" },
  }))
    it(`rejects ${what}`, async () => {
      await using chain = await start();
      const answer = await chain.front.send(`POST ${chain.path}`, note("x"), as(user));
      expect([answer.status, answer.body.reason, chain.upstream.stats.requests]).to.deep.equal([403, "Forbidden", 0]);
    });

  it("uses our own identity for any caller with `none`", async () => {
    await using chain = await start({ identity: "none" });
    expect((await chain.who({ name: "system:admin" })).name).to.equal("forwarder");
  });

  it("uses the result of a function, which may use the default, and returns its errors", async () => {
    const identity = (user: Asker) => {
      const as = impersonated(user);
      return { ...as, name: `org:${as.name}`, groups: [...(as.groups ?? []), "system:masters"] };
    };
    await using chain = await start({ identity });
    const { name, groups } = await chain.who({ name: "ann" });
    expect([name, groups]).to.deep.equal(["org:ann", [AUTHENTICATED, "system:masters"]]);
    const refused = await chain.front.send(`POST ${chain.path}`, note("x"), as({ name: "system:admin" }));
    expect(refused.status).to.equal(403);
  });

  it("never mixes up 50 callers in 1,000 requests in random order", async () => {
    await using chain = await start();
    const users = Array.from({ length: 50 }, (_, at) => ({
      name: `user-${at}`,
      uid: `uid-${at}`,
      groups: [`group-${at}`, ...(at % 2 === 0 ? [`even-${at}`] : []), AUTHENTICATED],
      extra: at % 3 === 0 ? { scopes: [`scope-${at}`] } : {},
    }));
    const asked = Array.from({ length: 1000 }, (_, at) => users[(at * 7) % 50] as (typeof users)[number]);
    const told = await Promise.all(asked.map((user) => chain.who(user)));
    expect(told).to.deep.equal(asked);
  }).timeout(30_000);
});
