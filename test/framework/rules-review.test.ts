// SelfSubjectRulesReview: permissions as a rule lists them or, if it cannot, by calling it for all that is served.
import { type Authorizer, allow, authenticated, deny, type User } from "@virtual-workspaces/framework";
import { rbac } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { AUTHZ, Note, Quote, RULES, start } from "./review-views.ts";

describe("SelfSubjectRulesReview", () => {
  const OWN = [
    { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
    {
      verbs: ["create"],
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
  ];

  it("returns the rules that the view's rule lists, and reviews", async () => {
    await using view = await start(authenticated());
    expect(await view.rules()).to.deep.equal({
      resourceRules: [...OWN, { verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    });
    await using devs = await start(
      rbac({
        objects: [
          {
            kind: "ClusterRole",
            metadata: { name: "r" },
            rules: [{ verbs: ["get"], apiGroups: [""], resources: ["notes"], resourceNames: ["n"] }],
          },
          {
            kind: "RoleBinding",
            metadata: { name: "b", namespace: "ns" },
            roleRef: { kind: "ClusterRole", name: "r" },
            subjects: [{ kind: "Group", name: "devs" }],
          },
        ],
      }),
    );
    expect((await devs.rules("other")).resourceRules).to.deep.equal(OWN);
    expect((await devs.rules("ns")).resourceRules).to.deep.equal([
      ...OWN,
      { verbs: ["get"], apiGroups: [""], resources: ["notes"], resourceNames: ["n"] },
    ]);
  });

  it("calls the rule for each verb if it cannot list, groups the results, and says so", async () => {
    await using view = await start(({ isResource, verb, resource, subresource, namespace, path }) => {
      if (!isResource) return verb === "get" && path !== "/version" ? allow() : deny("no");
      if (resource === "notes") return namespace === "mine" ? allow() : deny("not yours");
      return ["get", "list"].includes(verb) && subresource === "" ? allow() : deny("no");
    });
    const { resourceRules, nonResourceRules, incomplete, evaluationError } = await view.rules("mine");
    expect(resourceRules).to.deep.equal([
      ...OWN,
      { verbs: ["get", "list"], apiGroups: ["test.dev"], resources: ["quotes"] },
      {
        verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        apiGroups: [""],
        resources: ["notes"],
      },
    ]);
    expect(nonResourceRules).to.deep.equal([
      {
        verbs: ["get"],
        nonResourceURLs: ["/api", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz"],
      },
    ]);
    expect([incomplete, evaluationError])
      .to.deep.include(true)
      .and.to.match(/cannot list its rules/);
    expect((await view.rules("theirs")).resourceRules).to.have.length(3);
  });

  it("only calls the rule for resources served to the caller", async () => {
    const all = [Quote.serve(Quote.collection()), Note.serve(Note.collection())];
    const resources = ({ user }: { user: User }) => (user.in("devs") ? all : all.slice(1));
    await using view = await start(() => allow(), { resources });
    const body = { apiVersion: AUTHZ, kind: "SelfSubjectRulesReview", spec: { namespace: "ns" } };
    const named = async (user: "alice" | "bob"): Promise<string[]> =>
      (await view.server.send(`POST ${RULES}`, body, { user })).body.status.resourceRules.flatMap(
        ({ resources }: { resources: string[] }) => resources,
      );
    expect(await named("alice")).to.include.members(["quotes", "quotes/status", "notes"]);
    expect(await named("bob"))
      .to.include("notes")
      .and.not.include("quotes");
  });

  it("lists what it can find out when the rule fails, without the reason", async () => {
    const rule: Authorizer<Record<string, string>> = ({ resource }) => {
      if (resource === "quotes") throw new Error("secret");
      return allow();
    };
    await using view = await start(rule);
    const status = await view.rules();
    expect(status.resourceRules.flatMap(({ resources }: { resources: string[] }) => resources))
      .to.include("notes")
      .and.not.include("quotes");
    expect(status.evaluationError)
      .to.match(/authorizer of this view failed/)
      .and.not.include("secret");
    await using listing = await start(
      Object.assign(() => allow(), { rules: () => Promise.reject(new Error("secret")) }),
    );
    const { evaluationError, ...nothing } = await listing.rules();
    expect(nothing).to.deep.equal({ resourceRules: [], nonResourceRules: [], incomplete: true });
    expect(evaluationError).not.to.include("secret");
    expectFault(/review failed/);
  });

  it("accepts an empty status, as Go clients send it", async () => {
    await using view = await start(authenticated());
    const status = { resourceRules: null, nonResourceRules: null, incomplete: false };
    const body = {
      apiVersion: AUTHZ,
      kind: "SelfSubjectRulesReview",
      metadata: { creationTimestamp: null },
      spec: { namespace: "ns" },
      status,
    };
    const answer = await view.server.send(`POST ${RULES}`, body);
    expect([answer.status, answer.body.status.resourceRules.length, answer.headers["warning"]]).to.deep.equal([
      201,
      3,
      undefined,
    ]);
  });

  it("needs a namespace", async () => {
    await using view = await start(authenticated());
    const { status, body } = await view.review({}, RULES);
    expect([status, body.message]).to.deep.equal([400, "no namespace on request"]);
  });
});
