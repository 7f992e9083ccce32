// Why: authorizers run in the configured order, with a webhook among them.
import { type Authorizer, allow, type Decision, deny, type User } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { ClusterParams } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type AuthorizerName, shardAuthorizer } from "../../../packages/workspace-server/src/authz/authorizer.ts";
import { type About, login, PODS, questionOf, robot, SCOPES, toldBy, WARRANT, World } from "./world.ts";

interface Setting {
  readonly order?: readonly (AuthorizerName | Authorizer<ClusterParams>)[];
  readonly alwaysAllowGroups?: readonly string[];
  readonly alwaysAllowPaths?: readonly string[];
}

async function decide(setting: Setting, user: User, about: About = PODS): Promise<Decision> {
  return shardAuthorizer({ state: new World(), ...setting })(questionOf(user, about));
}

const no: Decision = { ...deny("the hook says no"), final: true } as Decision;

/** kcp's default order with a webhook. */
const last = (webhook: Authorizer<ClusterParams>) =>
  ({ order: ["AlwaysAllowGroups", "AlwaysAllowPaths", "RBAC", webhook] }) as const;

/** Request that every user is finally denied. */
const STATUS = { group: "apis.kcp.io", resource: "apibindings", subresource: "status" } as const;

describe("authorizers of a shard", () => {
  it("run in kcp's order: a webhook comes last, once for each effective identity", async () => {
    const asked: object[] = [];
    const webhook: Authorizer<ClusterParams> = ({ user: { name, groups }, verb, params }) => {
      asked.push({ name, groups, verb, cluster: params.cluster });
      return name === "w" ? allow() : deny(`not ${name}`);
    };
    const extra = { [SCOPES]: ["cluster:d"], [WARRANT]: ['{"user":"v"}', '{"user":"w"}', '{"user":"x"}'] };
    const decision = await decide(last(webhook), login("u", { extra }));
    expect(decision.allowed).to.equal(true);
    expect(toldBy(decision.annotations ?? {})).to.have.property(
      "02-content",
      "NoOpinion: no verb=access permission on /",
    );
    expect(asked).to.deep.equal([
      { name: "system:anonymous", groups: ["system:authenticated", "system:cluster:d"], verb: "get", cluster: "c" },
      { name: "v", groups: [], verb: "get", cluster: "c" },
      { name: "w", groups: [], verb: "get", cluster: "c" },
    ]);
    expect((await decide(last(webhook), login("ada"))).allowed).to.equal(true);
    expect((await decide(last(webhook), login("m", { groups: ["system:masters"] }))).allowed).to.equal(true);
    expect(asked).to.have.length(3);
    const refused = await decide(last(webhook), login("eve"));
    expect(refused).to.include({ allowed: false, reason: "access denied; not eve" });
    expect((await decide(last(webhook), robot("r", "d"))).allowed).to.equal(false);
  });

  it("run in another configured order, in which a final denial counts", async () => {
    expect(await decide({ order: [() => no, "RBAC"] }, login("ada"))).to.include({
      allowed: false,
      reason: "the hook says no",
    });
    const undecided: Setting = { order: [() => deny(""), "RBAC"] };
    expect((await decide(undecided, login("ada"))).allowed).to.equal(true);
    expect((await decide(undecided, login("x", { groups: ["system:masters"] }))).allowed).to.equal(true);
    expect((await decide(undecided, login("eve"), { path: "/livez" })).allowed).to.equal(false);
    expect((await decide({ order: ["RBAC", () => allow()] }, login("ada"), { ...STATUS })).allowed).to.equal(false);
  });

  it("fail if one fails and none allows", async () => {
    const webhook = () => {
      throw new Error("the hook is away");
    };
    expect((await decide(last(webhook), login("ada"))).allowed).to.equal(true);
    const failed = await decide(last(webhook), login("eve")).catch((error: unknown) => error);
    expect(String(failed)).to.equal("Error: the hook is away");
  });

  it("always allow the configured groups and paths", async () => {
    const setting = { alwaysAllowGroups: ["ops"], alwaysAllowPaths: ["/version", "/openapi/*"] };
    const nobody = authenticatedUser({ name: "system:anonymous" });
    const may = async (path: string) => (await decide(setting, nobody, { path })).allowed;
    expect([await may("/version"), await may("/openapi/v3"), await may("/openapi"), await may("/livez")]).to.deep.equal(
      [true, true, false, false],
    );
    expect(
      (await decide(setting, login("o", { groups: ["ops"] }), { ...PODS, cluster: "system:admin" })).allowed,
    ).to.equal(true);
    expect(
      (
        await decide({ ...setting, alwaysAllowGroups: [] }, login("o", { groups: ["system:masters"] }), {
          ...PODS,
          cluster: "system:admin",
        })
      ).allowed,
    ).to.equal(false);
  });

  it("may be called twice, as in kcp, and several of the caller's in turn", async () => {
    const calls: string[] = [];
    const named = (name: string, decision: Decision) => () => {
      calls.push(name);
      return decision;
    };
    const order = ["RBAC", named("first", deny("")), "RBAC", named("second", allow())] as const;
    expect((await decide({ order }, login("eve"))).allowed).to.equal(true);
    expect(calls).to.deep.equal(["first", "second"]);
    expect((await decide({ order }, login("m", { groups: ["system:masters"] }))).allowed).to.equal(true);
    expect(calls, "members of system:masters are not the webhooks' concern").to.have.length(2);
  });

  it("reject an unknown name, and an empty order", () => {
    const made = (order: readonly string[]) => () =>
      shardAuthorizer({ state: new World(), order: order as AuthorizerName[] });
    expect(made(["ABAC"])).to.throw(
      'invalid authorizer "ABAC": use AlwaysAllowGroups, AlwaysAllowPaths, RBAC, or a function',
    );
    expect(made([])).to.throw("invalid authorization order: name at least one authorizer");
  });
});
