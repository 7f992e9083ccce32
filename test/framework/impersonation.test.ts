// Impersonation: authorization, rejections, and the resulting user.
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  createServer,
  deny,
  staticTokens,
  User,
} from "@virtual-workspaces/framework";
import type { ImpersonationRequest, ImpersonationRule } from "@virtual-workspaces/framework/authz";
import type { RequestRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const tokens = staticTokens({ admin: { name: "admin", uid: "1", groups: ["admins"], extra: { scopes: ["all"] } } });

interface Question {
  readonly user: string;
  readonly about: string;
}

async function start(rule?: ImpersonationRule, authorize?: Authorizer<unknown>) {
  const asked: Question[] = [];
  const told: RequestRecord[] = [];
  const ask: Authorizer<unknown> = (request) => {
    asked.push({ user: request.user.name, about: aboutOf(request) });
    return (rule as Authorizer<unknown>)(request);
  };
  const impersonation: ImpersonationRule = Object.assign(ask, rule?.become && { become: rule.become });
  const server = createServer({
    virtualWorkspaces: [whoami(authorize)],
    authentication: [tokens],
    log: testLog().log,
    onRequest: (record) => void told.push(record),
    ...(rule && { impersonation }),
  });
  const { port } = await server.listen({ port: 0 });
  return {
    port,
    asked,
    told,
    async ask(...lines: readonly string[]): Promise<Whoami & { readonly code?: number; readonly message?: string }> {
      using wire = await Wire.open(port);
      wire.request("GET /services/who/ HTTP/1.1", "Host: x", "Authorization: Bearer admin", ...lines);
      return JSON.parse((await wire.answer())?.body ?? "");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function aboutOf({ verb, group, resource, subresource, namespace, name }: AuthorizeRequest<unknown>): string {
  return [verb, group, resource, subresource, namespace, name].join("|");
}

const AUTHENTICATED = "system:authenticated";
const yes: Authorizer<unknown> = () => allow();

describe("impersonation", () => {
  it("uses the named identity, and nothing of the authenticated user", async () => {
    await using server = await start(yes);
    const { name, uid, groups, extra, headers } = await server.ask(
      "Impersonate-User: alice",
      "impersonate-group: b",
      "Impersonate-Group: a",
      "Impersonate-Uid: 7",
      "Impersonate-Extra-Acme.com%2fTeam: x",
      "Impersonate-Extra-acme.com%2fteam: y",
    );
    expect({ name, uid, groups, extra }).to.deep.equal({
      name: "alice",
      uid: "7",
      groups: ["b", "a", AUTHENTICATED],
      extra: { "acme.com/team": ["x", "y"] },
    });
    expect(JSON.stringify(headers)).not.to.match(/impersonate/i);
    expect(server.asked).to.deep.equal([
      { user: "admin", about: "impersonate||users|||alice" },
      { user: "admin", about: "impersonate||groups|||b" },
      { user: "admin", about: "impersonate||groups|||a" },
      { user: "admin", about: "impersonate|authentication.k8s.io|userextras|acme.com/team||x" },
      { user: "admin", about: "impersonate|authentication.k8s.io|userextras|acme.com/team||y" },
      { user: "admin", about: "impersonate|authentication.k8s.io|uids|||7" },
    ]);
    expect(server.told).to.deep.include.members([{ ...server.told[0], user: "alice", impersonator: "admin" }]);
  });

  it("omits attributes that are not named", async () => {
    await using server = await start(yes);
    const { name, uid, groups, extra } = await server.ask("Impersonate-User: alice");
    expect({ name, uid, groups, extra }).to.deep.equal({ name: "alice", uid: "", groups: [AUTHENTICATED], extra: {} });
  });

  const groupsOf: Record<string, [lines: readonly string[], groups: readonly string[], about: string]> = {
    "a service account": [
      ["Impersonate-User: system:serviceaccount:ns:robot"],
      ["system:serviceaccounts", "system:serviceaccounts:ns", AUTHENTICATED],
      "impersonate||serviceaccounts||ns|robot",
    ],
    "a service account with groups": [
      ["Impersonate-User: system:serviceaccount:ns:robot", "Impersonate-Group: g"],
      ["g", AUTHENTICATED],
      "impersonate||serviceaccounts||ns|robot",
    ],
    "what only begins like a service account": [
      ["Impersonate-User: system:serviceaccount:NS:robot"],
      [AUTHENTICATED],
      "impersonate||users|||system:serviceaccount:NS:robot",
    ],
    anonymous: [
      ["Impersonate-User: system:anonymous"],
      ["system:unauthenticated"],
      "impersonate||users|||system:anonymous",
    ],
    "somebody unauthenticated": [
      ["Impersonate-User: x", "Impersonate-Group: system:unauthenticated"],
      ["system:unauthenticated"],
      "impersonate||users|||x",
    ],
    "somebody authenticated": [
      ["Impersonate-User: x", `Impersonate-Group: ${AUTHENTICATED}`, "Impersonate-Group: z"],
      [AUTHENTICATED, "z"],
      "impersonate||users|||x",
    ],
    "somebody of another script": [
      [Buffer.from("Impersonate-User: Zoë").toString("latin1")],
      [AUTHENTICATED],
      "impersonate||users|||Zoë",
    ],
  };
  for (const [whom, [lines, groups, about]] of Object.entries(groupsOf)) {
    it(`adds the groups of ${whom}`, async () => {
      await using server = await start(yes);
      expect((await server.ask(...lines)).groups).to.deep.equal(groups);
      expect(server.asked[0]?.about).to.equal(about);
    });
  }

  it("is forbidden without a rule, whatever the view allows", async () => {
    await using server = await start(undefined, yes);
    expect(await server.ask("Impersonate-User: alice")).to.include({
      code: 403,
      message:
        'users "alice" is forbidden: User "admin" cannot impersonate resource "users" in API group "" at the cluster scope: this server has no impersonation rule',
    });
  });

  it("requires permission for every part", async () => {
    await using server = await start(({ name }) => (name === "system:masters" ? deny("no") : allow()));
    const answer = await server.ask("Impersonate-User: a", "Impersonate-Group: b", "Impersonate-Group: system:masters");
    expect(answer.code).to.equal(403);
    expect(answer.message).to.contain('groups "system:masters" is forbidden');
    await using extra = await start(({ resource }) => (resource === "userextras" ? deny("no") : allow()));
    expect((await extra.ask("Impersonate-User: a", "Impersonate-Extra-x: y")).code).to.equal(403);
    await using uid = await start(({ resource }) => (resource === "uids" ? deny("no") : allow()));
    expect((await uid.ask("Impersonate-User: a", "Impersonate-Uid: y")).code).to.equal(403);
  });

  it("grants exactly the permissions of the impersonated user", async () => {
    await using server = await start(yes, ({ user }) => (user.name === "admin" ? allow() : deny("admins only")));
    expect((await server.ask()).name).to.equal("admin");
    expect(await server.ask("Impersonate-User: alice")).to.include({ code: 403 });
  });

  it("is 500 when the rule throws, without impersonation", async () => {
    await using server = await start(() => {
      throw new Error("the rule is away");
    });
    const answer = await server.ask("Impersonate-User: alice");
    expect(answer).to.include({ code: 500 });
    expect(JSON.stringify(answer)).not.to.contain("away");
    expectFault(/the rule is away/);
  });

  it("can be restricted by the rule, which sees the whole request first", async () => {
    const seen: unknown[] = [];
    const become = {
      become: ({ user, impersonated, params }: ImpersonationRequest) => {
        seen.push([user.name, impersonated.name, impersonated.groups, params]);
        if (impersonated.name === "root")
          throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: "not root" });
        return new User({ name: impersonated.name, groups: impersonated.groups, extra: { place: ["here"] } });
      },
    };
    await using server = await start(Object.assign(() => allow(), become));
    const { name, groups, extra } = await server.ask("Impersonate-User: alice", "Impersonate-Group: g");
    expect({ name, groups, extra }).to.deep.equal({
      name: "alice",
      groups: ["g", AUTHENTICATED],
      extra: { place: ["here"] },
    });
    server.asked.length = 0;
    expect(await server.ask("Impersonate-User: root")).to.include({ code: 403, message: "forbidden: not root" });
    expect(server.asked).to.deep.equal([]);
    expect(seen).to.deep.equal([
      ["admin", "alice", ["g", AUTHENTICATED], {}],
      ["admin", "root", [AUTHENTICATED], {}],
    ]);
    expect((await server.ask()).extra).to.deep.equal({ scopes: ["all"] });
  });

  it("calls the rule once for repeated values", async () => {
    await using server = await start(yes);
    const again = [...Array(5000).fill("Impersonate-Group: g"), ...Array(5000).fill("Impersonate-Extra-k: v")];
    const { groups } = await server.ask("Impersonate-User: alice", ...again, "Impersonate-Extra-other: v");
    expect(groups).to.deep.equal(["g", AUTHENTICATED]);
    expect(server.asked.map(({ about }) => about)).to.deep.equal([
      "impersonate||users|||alice",
      "impersonate||groups|||g",
      "impersonate|authentication.k8s.io|userextras|k||v",
      "impersonate|authentication.k8s.io|userextras|other||v",
    ]);
  });

  it("accepts 2,500 groups and as many values of extra; more are rejected before any rule runs", async () => {
    await using server = await start(yes);
    const group = (_: unknown, at: number): string => `Impersonate-Group: g${at}`;
    const extra = (_: unknown, at: number): string => `Impersonate-Extra-k${at % 2}: v${at}`;
    const most = [...Array.from({ length: 2500 }, group), ...Array.from({ length: 2500 }, extra)];
    expect((await server.ask("Impersonate-User: a", ...most)).groups).to.have.length(2501);
    expect(server.asked.splice(0)).to.have.length(5001);
    for (const [line, header] of [
      [group, "impersonate-group"],
      [extra, "impersonate-extra-*"],
    ] as const) {
      const answer = await server.ask("Impersonate-User: a", ...Array.from({ length: 2501 }, line));
      const message = `header "${header}" has 2501 different values: send at most 2500`;
      expect(answer).to.include({ kind: "Status", code: 400, message });
    }
    expect(server.asked).to.deep.equal([]);
  });

  const bad: Record<string, [lines: readonly string[], message: string]> = {
    "groups of nobody": [["Impersonate-Group: a"], "impersonation without a user: set the header impersonate-user"],
    "extra of nobody": [["Impersonate-Extra-a: a"], "impersonation without a user: set the header impersonate-user"],
    "an unknown part": [["Impersonate-Everything: a"], "impersonation without a user: set the header impersonate-user"],
    "two names": [
      ["Impersonate-User: a", "Impersonate-User: b"],
      'header "impersonate-user" was sent 2 times: send it once',
    ],
    "an empty name": [
      ["Impersonate-User:"],
      'empty impersonation header: give each header that begins with "impersonate-" a value',
    ],
    "an empty group": [
      ["Impersonate-User: a", "Impersonate-Group:"],
      'empty impersonation header: give each header that begins with "impersonate-" a value',
    ],
    "bytes that are no text": [
      ["Impersonate-User: a\xff"],
      'header "impersonate-user" is not UTF-8: encode its value as UTF-8',
    ],
  };
  for (const [what, [lines, message]] of Object.entries(bad)) {
    it(`of ${what} is rejected`, async () => {
      await using server = await start(yes);
      expect(await server.ask(...lines)).to.include({ kind: "Status", code: 400, message });
      expect(server.asked).to.deep.equal([]);
    });
  }

  it("is not requested by the value of another header", async () => {
    await using server = await start();
    expect((await server.ask("User-Agent: impersonate-test")).name).to.equal("admin");
  });

  it("requires authentication", async () => {
    await using server = await start(yes);
    using wire = await Wire.open(server.port);
    wire.request("GET /services/who/ HTTP/1.1", "Host: x", "Impersonate-User: alice");
    expect((await wire.answer())?.status).to.equal(401);
    expect(server.asked).to.deep.equal([]);
  });
});
