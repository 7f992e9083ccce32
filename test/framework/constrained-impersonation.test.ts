// Constrained impersonation (KEP-5284): which questions decide, and which identities no permission is enough for.
import { type Authorizer, allow, createServer, deny, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const NODE_NAME = "authentication.kubernetes.io/node-name";
const tokens = staticTokens({
  admin: { name: "admin" },
  agent: { name: "system:serviceaccount:default:agent", extra: { [NODE_NAME]: ["n1"] } },
});

/** Starts a server whose rule allows the permissions: verb, resource with subresource, and name. */
async function start(...permissions: readonly string[]) {
  const asked: string[] = [];
  const rule: Authorizer<unknown> = ({ isResource, verb, path, group, resource, subresource, name }) => {
    const what = isResource ? `${group}/${[resource, subresource].filter(Boolean).join("/")} ${name}` : path;
    const question = `${verb} ${what}`.replace("authentication.k8s.io/", "");
    asked.push(question);
    return permissions.includes(question) ? allow() : deny("no");
  };
  const server = createServer({
    virtualWorkspaces: [whoami()],
    authentication: [tokens],
    log: testLog().log,
    impersonation: Object.assign(rule, { constrained: true }),
  });
  const { port } = await server.listen({ port: 0 });
  return {
    asked,
    async as(lines: readonly string[], token = "admin"): Promise<Whoami & { readonly message?: string }> {
      asked.length = 0;
      using wire = await Wire.open(port);
      const headers = lines.map((line) => `Impersonate-${line}`);
      wire.request("GET /services/who/ HTTP/1.1", "Host: x", `Authorization: Bearer ${token}`, ...headers);
      return JSON.parse((await wire.answer())?.body ?? "");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const ON = "impersonate-on:user-info:get /";

describe("constrained impersonation", () => {
  it("asks about the request, then about each part of the identity", async () => {
    await using server = await start(ON, "impersonate:user-info users ann", "impersonate:user-info groups a");
    const { name, groups } = await server.as(["User: ann", "Group: a"]);
    expect([name, groups]).to.deep.equal(["ann", ["a", "system:authenticated"]]);
    expect(server.asked).to.deep.equal([ON, "impersonate:user-info users ann", "impersonate:user-info groups a"]);
    const { message } = await server.as(["User: ann", "Uid: 7"]);
    expect(message).to.contain(
      'uids.authentication.k8s.io "7" is forbidden: User "admin" cannot impersonate:user-info',
    );
  });

  it("falls back to the verb impersonate, and then reports the first denial", async () => {
    await using server = await start("impersonate /users ann");
    expect((await server.as(["User: ann"])).name).to.equal("ann");
    expect(server.asked).to.deep.equal([ON, "impersonate /users ann"]);
    expect((await server.as(["User: bob"])).message).to.contain("cannot impersonate-on:user-info:get path");
  });

  it("tries one permission for all groups, and for all extra, from four on", async () => {
    const all = ["impersonate:user-info groups *", "impersonate:user-info userextras/* *"];
    await using server = await start(ON, "impersonate:user-info users ann", ...all);
    const many = ["1", "2", "3", "4"];
    const lines = [...many.map((one) => `Group: g${one}`), ...many.map((one) => `Extra-a.io%2Fk: ${one}`)];
    const { groups } = await server.as(["User: ann", ...lines]);
    expect(groups).to.have.length(5);
    expect(server.asked).to.have.length(4);
    expect((await server.as(["User: ann", ...lines.slice(1)])).message).to.contain('groups.authentication.k8s.io "g2"');
  });

  it("gives a node and a service account the groups that Kubernetes gives them", async () => {
    await using server = await start(
      "impersonate-on:arbitrary-node:get /",
      "impersonate:arbitrary-node nodes n2",
      "impersonate-on:serviceaccount:get /",
      "impersonate:serviceaccount serviceaccounts robot",
    );
    expect((await server.as(["User: system:node:n2"])).groups).to.deep.equal(["system:nodes", "system:authenticated"]);
    expect((await server.as(["User: system:serviceaccount:default:robot"])).groups).to.deep.equal([
      "system:serviceaccounts",
      "system:serviceaccounts:default",
      "system:authenticated",
    ]);
  });

  it("lets a service account act as the node of its pod only", async () => {
    await using server = await start("impersonate-on:associated-node:get /", "impersonate:associated-node nodes *");
    expect((await server.as(["User: system:node:n1"], "agent")).name).to.equal("system:node:n1");
    expect((await server.as(["User: system:node:n2"], "agent")).message).to.contain(
      "cannot impersonate-on:arbitrary-node",
    );
    expect((await server.as(["User: system:node:n1"])).message).to.contain("cannot impersonate-on:arbitrary-node");
  });

  it("never permits system:masters, invalid keys of extra, or groups of a node or a service account", async () => {
    await using server = await start(
      ...[ON, "impersonate:user-info users ann", "impersonate:user-info groups system:masters"],
      ...["impersonate:user-info userextras/team red", "impersonate-on:arbitrary-node:get /"],
      ...["impersonate:arbitrary-node nodes n1", "impersonate:user-info groups g"],
    );
    const message = async (...lines: readonly string[]) => (await server.as(lines)).message;
    expect(await message("User: ann", "Group: system:masters")).to.contain(
      "impersonating the system:masters group is not allowed",
    );
    expect(await message("User: ann", "Extra-team: red")).to.contain(
      'impersonating an invalid key in extra is not allowed: extra[key]: Invalid value: "team": must be a domain-prefixed path (such as "acme.io/foo")',
    );
    expect(await message("User: ann", "Extra-a.io%2F%41: red")).to.contain(
      'impersonating a non-lowercase key in extra is not allowed: "a.io/A"',
    );
    for (const user of ["system:node:n1", "system:serviceaccount:default:robot"])
      expect(await message(`User: ${user}`, "Group: g")).to.match(/cannot impersonate resource/);
  });
});
